/// A closure of the app, held until it is called.
///
/// The closure need not be `Sendable`. It may belong to an actor or use a class's variables,
/// because it is called only on its own actor or queue.
package final class Completion<Value: Sendable>: @unchecked Sendable {
  private let function: @isolated(any) (Value) -> Void

  package init(_ function: @escaping @isolated(any) (Value) -> Void) {
    self.function = function
  }

  /// Whether the closure belongs to an actor.
  var hasActor: Bool { function.isolation != nil }

  /// Calls the closure on its actor, or on the caller's actor if it has none.
  ///
  /// `isWanted` runs on the same actor, directly before the closure. If it returns `false`, the
  /// closure is not called.
  nonisolated(nonsending) func call(
    with value: Value, if isWanted: @Sendable () -> Bool
  ) async {
    if let actor = function.isolation {
      await call(with: value, if: isWanted, on: actor)
    } else if isWanted() {
      await function(value)
    }
  }

  private func call(
    with value: Value, if isWanted: @Sendable () -> Bool, on actor: isolated any Actor
  ) async {
    if isWanted() { await function(value) }
  }
}
