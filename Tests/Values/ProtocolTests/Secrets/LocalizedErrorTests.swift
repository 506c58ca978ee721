import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

/// `localizedDescription`, the text that an app shows for an unknown error.
@Suite struct LocalizedErrorTests {
  static let error = SQOAuthError(
    .portInUse, "port 8080 is in use", cause: SQOAuthError(.invalidRequest, "C4N4RY"))
  static let rows: [(any Error, String)] = [
    (error, "port 8080 is in use"),
    (PipeError.noAccess(error), "there is no access: port 8080 is in use"),
    (PipeError.unreadable(error), "port 8080 is in use"),
    (PipeError.timedOut(error), "port 8080 is in use"),
    (PipeError.failed(error), "port 8080 is in use"),
    (PipeError.cancelled, "the operation was cancelled"),
  ]

  @Test(arguments: rows.indices)
  func `an error's localized description is a sentence`(index: Int) {
    let (error, sentence) = Self.rows[index]
    #expect(error.localizedDescription == sentence)
    #expect((error as NSError).localizedDescription == sentence)
  }
}
