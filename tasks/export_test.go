package tasks

// Tries returns how many versions of b have been looked at to find one for a task, ever.
func (b *Buffer[T]) Tries() int { return b.tries }

// Copies returns how many versions b has besides the newest.
func (b *Buffer[T]) Copies() int { return int(b.copies) }
