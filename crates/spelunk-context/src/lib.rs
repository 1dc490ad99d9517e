//! Huge context as an explorable thing: sources, documents, views.
