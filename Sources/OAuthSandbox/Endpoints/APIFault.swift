#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A refusal of a request to the protected API, with the answer that says why.
struct APIFault: Error {
  let answer: Answer

  /// A refusal with an answer that a protocol prescribes.
  init(_ answer: Answer) {
    self.answer = answer
  }

  /// A refusal with an error object like those of Google's APIs: the status and a message.
  init(
    _ status: Int, _ message: String, headers: [(name: String, value: String)] = []
  ) {
    let error: SandboxJSON = ["code": .integer(status), "message": .string(message)]
    self.init(Answer(status: status, headers: headers, json: ["error": error]))
  }

  static let noSuchFile = Self(404, "There is no such file.")
}
