import Foundation
import SequencingOAuthGRPC
import Testing

/// `localizedDescription`, which is what an app shows of an error that it does not know.
@Suite struct LocalizedErrorTests {
  @Test(arguments: [
    (RPCError(.notFound, "there is no such zoo"), "there is no such zoo"),
    (RPCError(.notFound, ""), "the call ended with status NOT_FOUND"),
  ])
  func `a call's error is localized by its message, or else by its status`(
    error: RPCError, sentence: String
  ) {
    #expect((error as any Error).localizedDescription == sentence)
  }
}
