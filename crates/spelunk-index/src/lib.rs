//! Finding by words: passages of a view, ranked for a question.
