import SequencingOAuth
import Testing

@testable import sq_demo

/// What `sq-demo whoami` says of a user.
@Suite struct SignedInUserTests {
  @Test func `UserInfo replaces claims about the user, but not protocol claims of the ID token`() {
    let verified: [String: JSONValue] = [
      "iss": "https://id.example", "aud": "app", "exp": 1, "tid": "t1", "email": "old@example.com",
    ]
    let merged = SignedInUser.merged(
      verified,
      with: [
        "iss": "x", "aud": "y", "exp": 2, "tid": "t2", "email": "new@example.com",
        "department": "genomics",
      ])
    #expect(
      merged == [
        "iss": "https://id.example", "aud": "app", "exp": 1, "tid": "t1",
        "email": "new@example.com", "department": "genomics",
      ])
  }
}
