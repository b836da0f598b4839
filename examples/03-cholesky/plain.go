package main

// at returns the tile of m that begins in row i and column j, at most nb x nb.
func at(m tile, nb, i, j int) tile { return m.Sub(i, j, min(nb, m.Rows-i), min(nb, m.Cols-j)) }

// plainCholesky is the loop without tasks: the same calls in the same order.
func plainCholesky(m tile, nb int) error {
	for k := 0; k < m.Cols; k += nb {
		if err := factor(at(m, nb, k, k)); err != nil {
			return err
		}
		for i := k + nb; i < m.Rows; i += nb {
			solve(at(m, nb, k, k), at(m, nb, i, k))
		}
		for j := k + nb; j < m.Cols; j += nb {
			square(at(m, nb, j, k), at(m, nb, j, j))
			for i := j + nb; i < m.Rows; i += nb {
				multiply(at(m, nb, i, k), at(m, nb, j, k), at(m, nb, i, j))
			}
		}
	}
	return nil
}
