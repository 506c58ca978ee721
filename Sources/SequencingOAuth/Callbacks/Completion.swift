/// A closure of the app that is passed on until it is called.
///
/// It need not be `Sendable`: the closure, which may belong to an actor or use a class's variables,
/// is called only on its own actor or queue.
package final class Completion<Value: Sendable>: @unchecked Sendable {
  private let function: @isolated(any) (Value) -> Void

  package init(_ function: @escaping @isolated(any) (Value) -> Void) {
    self.function = function
  }

  /// Whether the closure belongs to an actor.
  var hasActor: Bool { function.isolation != nil }

  /// Calls the closure on its actor, or on the caller's if it has none.
  ///
  /// `isWanted` runs there, directly before the closure; if it returns `false`, the closure is not
  /// called.
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
