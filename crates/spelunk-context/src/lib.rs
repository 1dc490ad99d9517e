//! Makes a huge context explorable: sources are scanned into a corpus of documents, and a view is the only way to see
//! them. Synchronous; knows no model and no prompt. Treats names, sizes and text as hostile input.

mod cite;
mod corpus;
mod decode;
mod document;
mod drift;
mod error;
mod extract;
mod grep;
mod image;
mod kind;
mod lines;
mod name;
mod needles;
mod objects;
mod pack;
mod plan;
mod reader;
mod records;
mod report;
mod scan_read;
mod schema;
mod scratch;
mod secrets;
mod server;
mod source;
mod split;
mod store;
mod structure;
mod table;
#[cfg(test)]
mod testing;
mod text;
mod unpack_limits;
mod view;

pub use cite::{Shown, check_citations};
pub use corpus::{Corpus, ExtensionShare, Outline, compare_files};
pub use decode::NotText;
pub use document::{Database, DocEntry, Origin, Pin, Pins, SourceInput};
pub use drift::Drift;
pub use error::{Nearest, SourceError};
pub use extract::sqlite::{distrust_schemas, sqlite_uri};
pub use extract::{
    EXTRACT_TASK, ExtractError, ExtractKind, PageRange, PdfPages, extract, pdf_pages, serve_extract,
};
pub use grep::{
    CompiledQuery, DocumentMatches, Extent, GrepMatch, GrepQuery, GrepReport, ViewGrepReport, grep_view,
};
pub use image::{ImageEntry, ImageError, ImageFile, ImageHeader, ImageKind};
pub use kind::{BadOverride, ContentType, CustomKind, Detected, Detector, Structure, Via};
pub use needles::Needles;
pub use objects::{ObjectEntry, ObjectError, ObjectStore, ObjectsHandle};
pub use pack::{Boundary, Span, Strength, pack};
pub use plan::{
    Analyst, AnalystShare, Batch, BatchItem, ManifestRow, Plan, PlanOptions, PlanTask, PlanWarning, Tier,
    Work, analyst_mix, batch_small, plan,
};
pub use reader::{More, Page, PatternError, Peek, ReadError, Reader};
pub use records::{Field, FieldClass, JsonType, Recipe, Records};
pub use report::{ScanReport, SkipReason};
pub use scan_read::ScanProgress;
pub use schema::SchemaSketch;
pub use secrets::{REDACT_REACH_BYTES, Redaction, SecretSpan, find_secrets, redact};
pub use server::{
    DatabaseServer, QueryWatch, ServerBounds, ServerColumn, ServerError, ServerHandle, ServerRows,
    ServerTable,
};
pub use source::given_text;
pub use spelunk_types::ScanOptions;
pub use split::{
    Chunk, Cutting, DocText, Heading, Mode, Partitioner, Prelude, Segment, Shell, Units, boundaries,
    estimate_tokens, headings, partitions_expected, render, target_units,
};
pub use store::{
    AccessCounts, AccessEntry, AccessSummary, Action, ClockMs, CollectionReport, Context, ContextId,
    ContextKind, ContextRevision, ContextSource, ContextStore, DirectoryReport, Factory, GrepView, IdFault,
    KindName, LoadPolicy, LoadView, Loader, MemoryReport, Metadata, Navigator, NewContext, NewSource,
    PageView, PeekView, RegistryWarning, SearchHit, SearchReport, SecretFiles, StoreError, StoreSettings,
    StoreStats, Suggestion, Unread,
};
pub use structure::{Landmark, Landmarks};
pub use table::RowTable;
pub use text::{
    FindAllItem, Flags, Group, JsonRecords, LazyText, MatchCursor, PatternFault, PyMatch, PyPattern,
    RecordShape, Replacement, SplitPart, TextBatch, TextError,
};
pub use view::View;
