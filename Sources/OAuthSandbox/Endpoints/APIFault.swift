import SQFoundation

/// An error of the protected API, with the answer to send.
struct APIFault: Error {
  let answer: Answer

  /// Creates an error with a complete answer, such as a refusal of the token.
  init(_ answer: Answer) {
    self.answer = answer
  }

  /// Creates an error with an error object like those of Google's APIs: a status and a message.
  init(
    _ status: Int, _ message: String, headers: [(name: String, value: String)] = []
  ) {
    let error: SandboxJSON = ["code": .integer(status), "message": .string(message)]
    self.init(Answer(status: status, headers: headers, json: ["error": error]))
  }

  static let noSuchFile = Self(404, "There is no such file.")
}
