package tasks

// Tries returns the number of versions of b ever tried for a task.
func (b *Buffer[T]) Tries() int { return b.tries }

// Copies returns the number of old versions of b.
func (b *Buffer[T]) Copies() int { return int(b.copies) }
