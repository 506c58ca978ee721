import Testing

@testable import SequencingOAuth

/// The parameters in which a resource server says what it needs.
///
/// - SeeAlso: RFC 9728, section 5.1; RFC 9470, section 3
struct ChallengeDemandTests {
  private func challenge(_ field: String) throws -> TokenChallenge {
    try #require(TokenChallenge.challenges(in: [field]).first)
  }

  @Test(arguments: [
    (#"Bearer resource_metadata="https://a.example/x""#, "https://a.example/x"),
    (#"bearer realm="r", Resource_Metadata = "https://a.example/x""#, "https://a.example/x"),
    (#"Basic resource_metadata="https://evil", DPoP resource_metadata="https://a""#, "https://a"),
    (#"Bearer realm="resource_metadata=\"https://evil\"""#, nil), ("Bearer", nil),
    (#"Bearer x_resource_metadata="https://evil""#, nil),
  ])
  func `resource_metadata is read only as a parameter of a Bearer or DPoP challenge`(
    field: String, address: String?
  ) throws {
    #expect(try challenge(field).resourceMetadata == address)
  }

  @Test func `a challenge with two metadata addresses is ignored`() {
    let field = #"Bearer resource_metadata="https://a", resource_metadata="https://b""#
    #expect(TokenChallenge.challenges(in: [field]).isEmpty)
  }

  /// Without quotes, a URL is no value (RFC 9110, section 11.2).
  @Test(arguments: [
    "Bearer resource_metadata=https://a.example/x", "Bearer resource_metadata=https://a, realm=x",
    "Bearer realm=x, resource_metadata=a/b",
  ])
  func `a metadata URL without quotes is ignored`(field: String) throws {
    #expect(try challenge(field).resourceMetadata == nil)
  }

  @Test(
    arguments: [
      ("a b", "a b"), ("", nil), (" ", nil), ("a \u{201D}", nil), ("a\tb", nil), ("a\\\\b", nil),
    ] as [(String, String?)])
  func `an empty scope, or a scope with forbidden characters, is nil`(text: String, scope: String?)
    throws
  {
    #expect(try challenge(#"Bearer scope="\#(text)""#).scope == scope)
  }

  @Test func `the acr_values of a challenge keep their order`() throws {
    let challenge = try challenge(
      #"Bearer error="insufficient_user_authentication", acr_values="b  a", max_age="300""#)
    #expect(challenge.error == .insufficientUserAuthentication)
    #expect(challenge.acrValues == ["b", "a"] && challenge.maxAge == .seconds(300))
    #expect(try self.challenge("Bearer").acrValues.isEmpty)
  }

  @Test(arguments: [
    ("0", Duration.zero), ("5", .seconds(5)), ("-1", nil), ("1.5", nil), ("", nil), ("x", nil),
    (" 5", nil), ("+5", nil), ("99999999999999999999", nil),
    ("9223372036854775807", .seconds(1 << 40)), ("\u{661}", nil),
  ])
  func `max_age is read only if it is a whole number of seconds`(text: String, age: Duration?)
    throws
  {
    #expect(try challenge(#"Bearer max_age="\#(text)""#).maxAge == age)
  }
}
