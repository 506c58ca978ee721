import Foundation
import Testing

@testable import SequencingOAuth

/// A stream of HTTP/2 that the server resets, as one that sheds load or guards itself does.
@Suite(.timeLimit(.minutes(1))) struct HTTP2ResetTests {
  /// RFC 9113, section 7: PROTOCOL_ERROR, INTERNAL_ERROR, CANCEL, ENHANCE_YOUR_CALM,
  /// INADEQUATE_SECURITY.
  @Test(arguments: [1, 2, 8, 11, 12] as [UInt8])
  func `its reason is told`(code: UInt8) async throws {
    let server = try RawServer { raw in
      guard let connection = HTTP2Connection(raw), let stream = connection.readRequest() else {
        return
      }
      connection.reset(stream, because: code)
      while !raw.read().isEmpty {}
    }
    var configuration = HTTPClientConfiguration.direct
    configuration.version = .http2PriorKnowledge
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    let error = await failure(.connectionFailed) {
      try await CurlHTTPClient(configuration: configuration).send(
        HTTPRequest(method: "POST", url: url))
    }
    #expect(
      (error?.cause as? CurlError)?.streamErrorCode == UInt32(code), "\(String(describing: error))")
    server.stop()
  }
}
