import SQBasics
import SQHTTP2
import SequencingOAuth
import Testing

@testable import SequencingOAuthGRPC
@testable import TestSupport

/// The encodings of gRPC's header fields.
@Suite struct WireTests {
  @Test(
    arguments: [
      ("", ""), ("plain", "plain"), ("a%20b", "a b"), ("%C3%A4", "ä"), ("%c3%a4", "ä"),
      ("100%", "100%"), ("%4", "%4"), ("%zz", "%zz"), ("%25%", "%%"), ("%FF", "\u{FFFD}"),
      ("a%0Ab", "a\nb"),
    ])
  func `a percent-encoded message is decoded`(text: String, expected: String) {
    #expect(PercentCoding.decode(text) == expected)
  }

  /// The text of a server may be long, and comparing it must not take long.
  @Test func `many combining marks in a row of a message or a field are separated`() {
    let run = marks(31)
    let encoded = run.utf8.map { "%" + String($0, radix: 16) }.joined()
    for text in [run, encoded] { #expect(PercentCoding.decode(text) == run.streamSafe) }
    var section = ReceivedSection()
    let isTaken = Array("x-note".utf8).withUnsafeBytes { name in
      Array(run.utf8).withUnsafeBytes { section.take(name, $0) }
    }
    #expect(isTaken && section.fields["x-note"] == run.streamSafe)
  }

  @Test(arguments: [
    ("application/grpc", true), ("Application/GRPC+proto; a=b", true),
    ("application/grpc;\u{301}a=b", true), ("application/grpc\u{301}", false),
    ("application/grpcx", false), ("text/html", false),
  ])
  func `gRPC messages follow a head whose content type is application/grpc`(
    type: String, hasMessages: Bool
  ) {
    let head = WebResponseHead(status: 200, headers: ["content-type": type])
    #expect(head.hasMessages == hasMessages)
  }

  @Test(
    arguments: [
      (.nanoseconds(1), "1n"), (.milliseconds(50), "50000000n"), (.milliseconds(99), "99000000n"),
      (.milliseconds(100), "100000u"), (.seconds(99), "99000000u"), (.seconds(100), "100000m"),
      (.nanoseconds(100_000_001), "101000u"), (.seconds(100_000), "100000S"),
      (.milliseconds(59_998), "60000000u"), (.milliseconds(99_950), "100000m"),
      (.milliseconds(1_001), "1010000u"), (.seconds(99_900_000), "99900000S"),
      (.seconds(99_999_999), "27800H"), (.seconds(100_000_000), "27800H"),
      (.seconds(Int64.max), "99999999H"), (.zero, nil), (.seconds(-1), nil),
    ] as [(Duration, String?)])
  func `a timeout is rounded up to three significant digits and has at most eight digits`(
    duration: Duration, expected: String?
  ) {
    #expect(TimeoutField.text(duration) == expected)
  }

  /// The table in gRPC's `doc/PROTOCOL-HTTP2.md`.
  @Test(
    arguments: [
      (0, .internal), (1, .internal), (2, .internal), (3, .internal), (4, .internal),
      (6, .internal), (7, .unavailable), (8, .cancelled), (9, .internal), (10, .internal),
      (11, .resourceExhausted), (12, .permissionDenied),
    ] as [(UInt32, RPCStatus)])
  func `the error code of a stream reset is mapped to a gRPC status`(
    code: UInt32, status: RPCStatus
  ) {
    #expect(HTTPMapping.status(ofReset: HTTP2ErrorCode(rawValue: code)) == status)
  }

  @Test func `a status prints its name`() {
    #expect("\(RPCStatus.ok) \(RPCStatus.unauthenticated)" == "OK UNAUTHENTICATED")
    #expect("\(RPCStatus(rawValue: 17))" == "CODE_17")
    #expect("\(RPCCallError(.deadlineExceeded, "late"))" == "DEADLINE_EXCEEDED (4): late")
  }
}
