extension Task where Failure == Never {
  /// A task of its own that runs on the caller's thread up to where it first waits, which saves
  /// waking another one.
  @discardableResult
  package static func startingHere(
    _ operation: sending @escaping @isolated(any) () async -> Success
  ) -> Task<Success, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate(operation: operation)
    }
    return Task(operation: operation)
  }
}
