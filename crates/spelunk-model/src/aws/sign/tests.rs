//! The vectors of AWS's published signing test suite, those without a query, and the double escaping of paths.

use super::*;

const HOST: (&str, &str) = ("host", "example.amazonaws.com");
const DATE: (&str, &str) = ("x-amz-date", "20150830T123600Z");
const LONG_TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

fn check(method: &str, path: &str, headers: &[(&str, &str)], body: &str, names: &str, signature: &str) {
    let request = Request { method, path, query: "", headers, body: body.as_bytes() };
    let scope = Scope { region: "us-east-1", service: "service", stamp: "20150830T123600Z" };
    let secret = Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    let expected = format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders={names}, Signature={signature}"
    );
    assert_eq!(authorization(&request, &scope, "AKIDEXAMPLE", &secret), expected);
}

#[test]
fn get_vanilla() {
    let signature = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
    check("GET", "/", &[HOST, DATE], "", "host;x-amz-date", signature);
}

#[test]
fn post_vanilla() {
    let signature = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b";
    check("POST", "/", &[HOST, DATE], "", "host;x-amz-date", signature);
}

#[test]
fn get_vanilla_with_session_token() {
    let token = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
    let headers = [("x-amz-security-token", token), HOST, DATE];
    let signature = "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8";
    check("GET", "/", &headers, "", "host;x-amz-date;x-amz-security-token", signature);
}

#[test]
fn post_sts_header_before() {
    let headers = [HOST, DATE, ("x-amz-security-token", LONG_TOKEN)];
    let signature = "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead";
    check("POST", "/", &headers, "", "host;x-amz-date;x-amz-security-token", signature);
}

#[test]
fn get_header_value_trim() {
    let headers = [HOST, ("my-header1", " value1"), ("my-header2", " \"a   b   c\""), DATE];
    let signature = "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736";
    check("GET", "/", &headers, "", "host;my-header1;my-header2;x-amz-date", signature);
}

#[test]
fn post_header_key_sort_and_value_case() {
    let signature = "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c";
    check("POST", "/", &[DATE, ("my-header1", "value1"), HOST], "", "host;my-header1;x-amz-date", signature);
    let signature = "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d";
    check("POST", "/", &[HOST, ("my-header1", "VALUE1"), DATE], "", "host;my-header1;x-amz-date", signature);
}

#[test]
fn get_utf8_space_and_unreserved() {
    let names = "host;x-amz-date";
    let signature = "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85";
    check("GET", "/ሴ", &[HOST, DATE], "", names, signature);
    let signature = "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741";
    check("GET", "/example space/", &[HOST, DATE], "", names, signature);
    let path = "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let signature = "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f";
    check("GET", path, &[HOST, DATE], "", names, signature);
}

#[test]
fn post_x_www_form_urlencoded() {
    let body_hash = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e";
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        HOST,
        ("content-length", "13"),
        DATE,
        ("x-amz-content-sha256", body_hash),
    ];
    let names = "content-length;content-type;host;x-amz-content-sha256;x-amz-date";
    let signature = "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b";
    check("POST", "/", &headers, "Param1=value1", names, signature);
}

#[test]
fn what_is_escaped_on_the_wire_is_escaped_again_in_what_is_signed() {
    assert_eq!(encoded_path("/model/a.b-v1%3A0/converse-stream"), "/model/a.b-v1%253A0/converse-stream");
    let arn = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.m/converse-stream";
    assert_eq!(encoded_path(arn), arn.replace('%', "%25"));
}

/// Computed by botocore 1.44.0 for the same requests: names with a colon, ARNs, and a session token.
#[test]
fn botocore_signs_requests_to_bedrock_the_same_way() {
    let host = ("host", "bedrock-runtime.us-east-1.amazonaws.com");
    let json = ("content-type", "application/json");
    let token = ("x-amz-security-token", "session");
    let signed = |path: &str, headers: &[(&str, &str)]| {
        let request = Request { method: "POST", path, query: "", headers, body: br#"{"messages":[]}"# };
        let scope = Scope { region: "us-east-1", service: "bedrock", stamp: "20150830T123600Z" };
        let secret = Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        authorization(&request, &scope, "AKIDEXAMPLE", &secret)
    };
    let path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream";
    assert_eq!(
        signed(path, &[json, host, DATE]),
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=84398646bf3400b6fe124cbb6c76b1ed0ceebcfcb83d3c5a6503a351fa906a98"
    );
    let path = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.m/converse-stream";
    assert_eq!(
        signed(path, &[json, host, DATE, token]),
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=2d144a3d3ff131eca113469fb8bc119bf2887aade211cd2fb3237c8fcc99df78"
    );
}
