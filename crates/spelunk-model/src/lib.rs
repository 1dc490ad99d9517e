//! Talking to a model: one request, one streamed reply, typed errors.
