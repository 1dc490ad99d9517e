//! How a script imports the tools, and keeps its line numbers.

use expect_test::expect;

use super::with_tools;

#[test]
fn imports_of_the_tools_become_names_and_lines_keep_their_numbers() {
    let code = "import re\nfrom tools.llm_client import LLMClient\nfrom tools.chunking import (\n    Chunker,\n    chunk_prompt as cut,\n)\nif True:\n    from tools.chunking import Chunker as C  # why\nprint(1)\n";
    expect![[r#"
        import re
        LLMClient = LLMClient
        Chunker = Chunker; cut = chunk_prompt



        if True:
            C = Chunker# why
        print(1)
    "#]]
    .assert_eq(&with_tools(code));
    assert_eq!(with_tools("x = 'from tools import me'\n"), "x = 'from tools import me'\n");
}
