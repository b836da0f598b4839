package main

var programs = []program{
	{"rows", change, rows, ""}, {"square", change, square, "squareOn"}, {"accessors", change, accessors, ""}, {"elsewhere", change, elsewhere, ""},
	{"columns-elsewhere", change, columnsElsewhere, ""}, {"generic-elsewhere", change, genericElsewhere, ""}, {"joined", change, joined, ""},
	{"dropped", change, dropped, ""}, {"statuses", change, statuses, ""}, {"between", change, between, ""}, {"named", change, named, ""},
	{"method", change, method, "exchange"}, {"cases", change, cases, ""}, {"three", change, three, ""}, {"types", change, types, ""}, {"pair", change, pair, ""},
	{"collect", change, collect, ""}, {"spread", change, spread, ""}, {"eight", change, eight, ""}, {"scalar", change, scalar, ""},
	{"literal", change, literal, ""}, {"prepared", change, prepared, ""}, {"generics", change, generics, "generic"},

	{"passing", keep, passing, ""}, {"swapped", keep, swapped, ""}, {"sometimes", keep, sometimes, ""}, {"by-step", keep, byStep, ""},
	{"unpacked", keep, unpacked, ""}, {"summed", keep, summed, ""}, {"by-field", keep, byField, ""}, {"by-value", keep, byValue, ""},
	{"by-function", keep, byFunction, ""}, {"growing", keep, growing, ""}, {"pipeline", keep, pipeline, ""}, {"wavefront", keep, wavefront, ""},
	{"status", keep, status, ""}, {"going-on", keep, goingOn, ""}, {"channel", keep, channel, ""}, {"goroutine", keep, goroutine, ""},
	{"deferring", keep, deferring, ""}, {"anyone", keep, anyone, ""}, {"rounds", keep, rounds, ""}, {"replaced", keep, replaced, ""},
	{"printed", keep, printed, ""}, {"closure", keep, closure, ""}, {"addressed", keep, addressed, ""}, {"addressed-elsewhere", keep, addressedElsewhere, ""},
	{"through-pointer", keep, throughPointer, ""}, {"reduced", keep, reduced, ""}, {"locked", keep, locked, ""}, {"stopping", keep, stopping, ""},
	{"butterfly", keep, butterfly, ""},

	{"by-size", either, bySize, ""}, {"by-ranks", either, byRanks, ""}, {"by-data", either, byData, ""}, {"aliased", either, aliased, "twoSlices"},
	{"helper", either, helper, "swap"}, {"twice", either, twice, ""},
}
