//! One suite for every backend. A behaviour is a function over a sandbox; `interpreter_contract!` turns it into a test
//! for each.

mod calls;
mod cells;
mod files;
mod handles;
mod limits;
mod replay;
mod surroundings;

use crate::scene::Backend;

/// Makes a module of tests out of the behaviours.
macro_rules! interpreter_contract {
    ($name:ident, $backend:expr, $($room:ident: [$($behaviour:ident),* $(,)?]),* $(,)?) => {
        mod $name {
            use super::*;

            $($(
                #[test]
                fn $behaviour() {
                    if let Some(sandbox) = $backend.sandbox() {
                        super::$room::$behaviour(&sandbox);
                    }
                }
            )*)*
        }
    };
}

/// The behaviours, for one backend.
macro_rules! all_of_it {
    ($name:ident, $backend:expr) => {
        interpreter_contract!(
            $name,
            $backend,
            cells: [
                variables_stay_between_cells,
                functions_and_imports_stay_between_cells,
                an_error_half_way_keeps_what_was_assigned,
                a_bare_last_expression_is_echoed,
                a_cell_without_a_statement_does_nothing,
                text_of_any_script_is_printed,
                long_output_keeps_its_beginning_its_end_and_its_true_length,
                output_of_exactly_the_limit_is_whole,
                a_traceback_shows_line_and_caret,
                a_traceback_goes_through_the_functions_of_earlier_cells,
                a_syntax_error_shows_its_place_and_runs_nothing,
                leaving_ends_the_cell_and_not_the_session,
                a_variable_can_be_asked_for,
                a_large_variable_can_be_asked_for,
                what_cannot_cross_is_told_by_its_repr,
            ],
            calls: [
                arguments_arrive_by_position_and_by_name,
                every_kind_of_value_goes_both_ways,
                a_host_call_can_raise_a_built_in_exception,
                a_host_call_can_raise_an_exception_of_the_setup,
                a_call_works_wherever_python_allows_one,
                an_awaited_call_gives_its_value,
                calls_that_are_awaited_together_are_sent_together,
                a_function_that_awaits_is_gathered_too,
                one_failed_call_of_many_is_an_exception_of_its_own,
                a_finish_cannot_be_caught,
                a_finish_within_a_gather_ends_the_cell,
                a_finish_keeps_the_variables,
                wrong_use_by_the_host_is_an_error,
                threads_of_a_pool_get_their_replies,
            ],
            files: [
                files_of_the_host_are_the_files_of_a_cell,
            ],
            handles: [
                a_text_behind_a_handle_is_used_like_text,
                a_handle_is_iterated_in_batches,
                methods_of_a_handle_are_calls,
                regular_expressions_search_behind_a_handle,
                a_compiled_pattern_searches_behind_a_handle,
                a_handle_goes_back_to_the_host,
                an_error_behind_a_handle_is_an_exception,
            ],
            limits: [
                a_cell_that_computes_too_long_is_stopped,
                a_cell_cannot_catch_that_its_time_is_over,
                waiting_for_the_host_does_not_count,
                too_much_memory_is_a_memory_error,
                endless_recursion_is_an_exception,
                more_calls_than_allowed_end_the_cell,
                endless_printing_is_bounded,
                an_error_with_a_huge_message_is_cut,
            ],
            replay: [
                the_same_cells_and_replies_give_the_same_steps,
                a_session_is_rebuilt_by_feeding_it_again,
                time_comes_from_the_setup,
                chance_comes_from_the_seed,
            ],
            surroundings: [
                a_given_file_can_be_read,
                a_file_that_a_cell_wrote_can_be_read_again,
                other_files_are_refused,
                the_prelude_defines_names_and_is_not_in_tracebacks,
                a_prelude_that_does_not_run_is_an_error,
                help_prints_the_text_of_a_function,
                nobody_answers_input,
                there_is_no_environment,
            ],
        );
    };
}

all_of_it!(in_process, Backend::InProcess);
all_of_it!(worker, Backend::Worker);
all_of_it!(cpython, Backend::Cpython);
