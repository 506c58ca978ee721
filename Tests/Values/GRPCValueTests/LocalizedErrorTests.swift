import Foundation
import SequencingOAuthGRPC
import Testing

/// `localizedDescription`, the text that an app shows for an unknown error.
@Suite struct LocalizedErrorTests {
  @Test(arguments: [
    (RPCCallError(.notFound, "there is no such zoo"), "there is no such zoo"),
    (RPCCallError(.notFound, ""), "the call ended with status NOT_FOUND"),
  ])
  func `a call's error is described by its message, or else by its status`(
    error: RPCCallError, sentence: String
  ) {
    #expect((error as any Error).localizedDescription == sentence)
  }
}
