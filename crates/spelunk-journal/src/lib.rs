//! Never losing work: the disk, the journal, blobs, the reply cache, locks.
