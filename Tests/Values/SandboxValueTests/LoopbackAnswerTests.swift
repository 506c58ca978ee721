import FoundationEssentials
import SQLoopback
import Testing

@testable import OAuthSandbox

/// The answers that the sandbox's own HTTP client reads: of apps, of their servers, of documents.
@Suite struct LoopbackAnswerTests {
  private func answer(
    _ length: String, hasContent: Bool = true
  ) -> LoopbackAnswer? {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
    return LoopbackAnswer(Data((head + "hello").utf8), hasContent: hasContent)
  }

  @Test(arguments: [("5", "hello"), ("3", "hel"), ("0", "")])
  func `the length in the head ends the content`(length: String, content: String) {
    #expect(answer(length)?.body == Data(content.utf8))
  }

  /// RFC 9110, section 8.6, and RFC 9112, section 6.3.
  @Test(arguments: ["-5", "+5", "-0", "6", "five", "5, 5", "", "9223372036854775808"])
  func `an answer whose length is wrong or no number is malformed`(length: String) {
    #expect(answer(length) == nil)
  }

  @Test func `the length of an answer without content is ignored`() {
    #expect(answer("-5", hasContent: false)?.body == Data())
  }
}
