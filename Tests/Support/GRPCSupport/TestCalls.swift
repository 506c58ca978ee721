import Foundation
import SequencingOAuthGRPC

extension RPCChannel {
  /// Creates a call to a method of the test service; the request is a text.
  func test(
    _ name: String, _ request: String = "", kind: RPCCall.Kind = .unary
  ) throws -> RPCCall {
    try call(method(name), request: Data(request.utf8), kind: kind)
  }
}

extension Data {
  var text: String { String(decoding: self, as: UTF8.self) }
}
