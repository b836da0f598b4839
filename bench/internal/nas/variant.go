package nas

import (
	"github.com/weft-hpc/weft/fft/distributed"
)

// Variant is a way to transform: a form, and how its pieces travel.
type Variant struct {
	Form     distributed.Form
	OneSided bool // put into windows; otherwise sent and received
}

// String returns the name of the variant, as in slabs or slabs-onesided.
func (v Variant) String() string {
	if v.OneSided {
		return v.Form.String() + "-onesided"
	}
	return v.Form.String()
}

// Variants lists all forms, sent and received; with oneSided, each is followed by the
// same form one-sided.
func Variants(oneSided bool) (all []Variant) {
	for _, f := range distributed.Forms() {
		all = append(all, Variant{Form: f})
		if oneSided {
			all = append(all, Variant{Form: f, OneSided: true})
		}
	}
	return all
}
