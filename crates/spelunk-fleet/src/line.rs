//! A line between two nodes for one call: large messages in order, and heartbeats. Nothing is stored.
//! If a frame is lost, the line breaks; it is never silently incomplete.

use std::time::{Duration, Instant};

use async_nats::{StatusCode, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::{Fleet, Result, refused};

/// How often an end sends a heartbeat.
const BEAT: Duration = Duration::from_secs(1);
/// How long the other end may be silent before the line breaks.
const SILENCE: Duration = Duration::from_secs(10);
/// The largest message: a prompt with as many images as providers accept.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// The kinds of frames, in their first byte.
const MORE: u8 = 0;
const WHOLE: u8 = 1;
const HERE: u8 = 2;
const END: u8 = 3;

/// One end of a line. Dropping it notifies the other end.
pub(crate) struct Line {
    fleet: Fleet,
    /// The subject of this end.
    here: String,
    arriving: Subscriber,
    /// The subject of the other end, once it is known.
    there: Option<Subject>,
    n_sent: u32,
    n_heard: u32,
    gathered: Vec<u8>,
    heard_at: Instant,
    beat_at: Instant,
    /// Whether the other end was closed rather than lost.
    is_closed: bool,
    /// When nobody was first found to listen at the other end. A server that has just restarted does not know its clients.
    missed_since: Option<Instant>,
}

/// A frame that arrived.
pub(crate) enum Frame {
    /// A heartbeat. The first one tells who the other end is.
    Here,
    /// A part of a message, and whether it is the last.
    Piece { number: u32, is_last: bool, bytes: Bytes },
    /// The other end was closed.
    End,
    /// Nobody listens there.
    Nobody,
}

impl Line {
    /// Opens an end. The other end may not be known yet.
    pub(crate) async fn open(fleet: &Fleet, there: Option<Subject>) -> Result<Self> {
        let client = &fleet.connected().client;
        let name = client.new_inbox();
        let name = name.rsplit('.').next().unwrap_or_default();
        let here = fleet.subject(&format!("line.{name}"));
        let arriving = client.subscribe(here.clone()).await.map_err(refused("connect two nodes"))?;
        let now = Instant::now();
        Ok(Self {
            fleet: fleet.clone(),
            here,
            arriving,
            there,
            n_sent: 0,
            n_heard: 0,
            gathered: Vec::new(),
            heard_at: now,
            beat_at: now + BEAT,
            is_closed: false,
            missed_since: None,
        })
    }

    /// Asks the listeners of a subject for the other end; the next frame is the answer.
    pub(crate) async fn knock(&self, subject: String) {
        // If this is lost, no answer comes.
        let client = &self.fleet.connected().client;
        drop(client.publish_with_reply(subject, self.here.clone(), Bytes::new()).await);
    }

    /// Tells an end that knocked that there is no free slot.
    pub(crate) async fn refuse(fleet: &Fleet, there: Subject) {
        drop(fleet.connected().client.publish(there, Bytes::from_static(&[END])).await);
    }

    pub(crate) async fn say_here(&mut self) {
        self.beat_at = Instant::now() + BEAT;
        self.publish(Bytes::from_static(&[HERE])).await;
    }

    /// Sends a message, in pieces if it is long.
    pub(crate) async fn send(&mut self, message: &[u8]) {
        let bytes_max = self.fleet.message_bytes_max();
        let mut pieces = message.chunks(bytes_max).peekable();
        while let Some(piece) = pieces.next() {
            let kind = if pieces.peek().is_some() { MORE } else { WHOLE };
            let frame = [&[kind][..], &self.n_sent.to_be_bytes(), piece].concat();
            self.n_sent = self.n_sent.wrapping_add(1);
            self.publish(Bytes::from(frame)).await;
        }
    }

    async fn publish(&self, frame: Bytes) {
        let Some(there) = self.there.clone() else { return };
        // A lost frame is noticed by its number or by the silence.
        let client = &self.fleet.connected().client;
        drop(client.publish_with_reply(there, self.here.clone(), frame).await);
    }

    /// The next frame of the other end.
    pub(crate) async fn frame(&mut self) -> Frame {
        loop {
            let Some(message) = self.arriving.next().await else { return Frame::End };
            if message.status == Some(StatusCode::NO_RESPONDERS) {
                return Frame::Nobody;
            }
            match (&self.there, message.reply) {
                // Another node answered too late.
                (Some(there), Some(from)) if *there != from => continue,
                (None, from) => self.there = from,
                (Some(_), _) => {}
            }
            (self.heard_at, self.missed_since) = (Instant::now(), None);
            let number = message.payload.get(1..5).and_then(|bytes| bytes.try_into().ok());
            match (message.payload.first(), number.map(u32::from_be_bytes)) {
                (Some(&HERE), _) => return Frame::Here,
                (Some(&kind @ (MORE | WHOLE)), Some(number)) => {
                    return Frame::Piece {
                        number,
                        is_last: kind == WHOLE,
                        bytes: message.payload.slice(5..),
                    };
                }
                _ => return Frame::End,
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The next message; `None` if the other end is closed or gone or a frame was lost. Cancel-safe.
    pub(crate) async fn receive(&mut self) -> Option<Vec<u8>> {
        loop {
            let beat_at = self.beat_at.into();
            match tokio::time::timeout_at(beat_at, self.frame()).await {
                Err(_) if self.heard_at.elapsed() > SILENCE => return None,
                Err(_) => self.say_here().await,
                Ok(Frame::Here) => {}
                Ok(Frame::Nobody) => {
                    let since = *self.missed_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= BEAT / 2 {
                        return None;
                    }
                }
                Ok(Frame::Piece { number, is_last, bytes }) => {
                    let is_next = number == self.n_heard;
                    if !is_next || self.gathered.len() + bytes.len() > MESSAGE_BYTES_MAX {
                        return None;
                    }
                    self.n_heard = self.n_heard.wrapping_add(1);
                    self.gathered.extend_from_slice(&bytes);
                    if is_last {
                        return Some(std::mem::take(&mut self.gathered));
                    }
                }
                Ok(Frame::End) => {
                    self.is_closed = true;
                    return None;
                }
            }
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let Some(there) = self.there.take() else { return };
        let (client, here) = (self.fleet.connected().client.clone(), self.here.clone());
        // If this is lost, the other end notices the silence.
        self.fleet.spawn(async move {
            drop(client.publish_with_reply(there, here, Bytes::from_static(&[END])).await);
        });
    }
}
