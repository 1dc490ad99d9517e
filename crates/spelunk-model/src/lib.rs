//! Model clients: one request, one streamed reply, typed errors. Adapters never retry, never cache and have no budget:
//! the engine implements each of those once.

mod anthropic;
mod aws;
mod aws_event_stream;
mod bedrock;
mod caller;
mod catalogue;
mod chat;
mod command;
mod download;
#[cfg(feature = "embedded")]
mod embedded;
mod embedding;
mod error_mapping;
mod event_parser;
mod fallback;
#[doc(hidden)]
pub mod fuzzing;
mod gemini;
mod gguf;
mod hosted;
mod http;
mod list;
mod loading;
mod model;
mod openai;
mod post;
mod price;
mod rate;
mod reasoning_tags;
mod reply;
mod responses;
mod schema;
mod secret;
mod sse;
mod time;
mod tokens;
mod tool_drafts;
mod wire;

pub use anthropic::AnthropicModel;
pub use aws::{AwsAuth, AwsKeys, AwsSettings, AwsSigner, AwsSource, Now};
pub use bedrock::BedrockModel;
pub use caller::ModelOptions;
pub use catalogue::local_catalogue;
pub use chat::ChatForm;
pub use command::{CommandModel, CommandOptions, CommandOutput};
pub use download::Download;
#[cfg(feature = "embedded")]
pub use embedded::{EmbeddedModel, EmbeddedOptions};
pub use embedding::{Embedded, EmbeddingClient, embedding_batches};
pub use fallback::FallbackModel;
pub use gemini::GeminiModel;
pub use gguf::{GgufError, GgufHeader};
pub use hosted::{Ability, CatalogueError, DefaultModels, HostedCatalogue, HostedModel, known_price};
pub use http::{deepest_cause, http_client, is_on_this_machine, percent_encoded};
pub use list::{ListShape, list_models, list_models_as};
pub use loading::{Loading, models_loading};
pub use model::{Asked, CallPlace, CallPlaces, Model, ModelFacts, ModelStream, Reply, collect};
pub use openai::OpenAiModel;
pub use post::post_json;
pub use price::{Price, PriceAbove};
pub use rate::{Rate, RateBucket};
pub use responses::ResponsesModel;
pub use secret::Secret;
pub use tokens::{estimate_tokens, estimate_tokens_high};
pub use wire::catalogue::{CatalogueModel, CataloguePart};
pub use wire::elsewhere::{ModelDelta, read_call, read_piece, write_call, write_piece};
pub use wire::image::{Image, image_tokens};
pub use wire::model_error::{Feature, ModelError};
pub use wire::prompt::{Effort, Message, Prompt, Speaker};
pub use wire::tool::{Part, Tool, ToolCall, ToolResult};
