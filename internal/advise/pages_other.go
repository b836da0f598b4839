//go:build !unix

package advise

import "github.com/weft-hpc/weft/internal/pages"

func pageSize() int { return pages.Size() }

// protectionCost is not known on systems without page protection.
func protectionCost() []Point { return nil }
