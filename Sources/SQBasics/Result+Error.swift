extension Result {
  /// The error of a failure; `nil` for a success.
  package var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }

  /// Runs work that may wait, and returns its value or its error.
  package static func of(_ work: () async throws(Failure) -> Success) async -> Self {
    do throws(Failure) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}
