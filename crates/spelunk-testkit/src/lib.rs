//! Making failure cheap to test: a scripted model server, a faulty disk, golden trajectories.
