#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Why a request to the protected API is refused, as the answer to it.
struct APIFault: Error {
  let answer: Answer

  /// An answer that a protocol prescribes.
  init(_ answer: Answer) {
    self.answer = answer
  }

  /// An error object in the manner of Google's APIs: the status and a message.
  init(
    _ status: Int, _ message: String, headers: [(name: String, value: String)] = []
  ) {
    let error: SandboxJSON = ["code": .integer(status), "message": .string(message)]
    self.init(Answer(status: status, headers: headers, json: ["error": error]))
  }

  static let noSuchFile = Self(404, "There is no such file.")
}
