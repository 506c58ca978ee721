/// A type that shows its `description` wherever Swift prints a value, and never what it stores.
///
/// By default, `print`, string interpolation, `dump`, `Mirror` and a debugger's `po` show every
/// stored property. For a type that conforms to this protocol, all of them show its `description`.
/// `dump`, `Mirror` and `po` also show its ``shownParts``. The default description is the type's
/// name.
///
/// A public type can conform although this protocol is not public. The type's conformances to the
/// three inherited protocols are then public, so the default implementations are public too.
package protocol Redacted:
  CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  /// The parts that `dump`, `Mirror` and `po` show below the description; empty by default.
  var shownParts: KeyValuePairs<String, Any> { get }
}

extension Redacted {
  /// The name of the type.
  public var description: String { "\(Self.self)" }

  /// The text of `description`.
  public var debugDescription: String { description }

  /// A mirror of ``shownParts`` instead of the stored properties.
  public var customMirror: Mirror { Mirror(self, children: shownParts) }

  package var shownParts: KeyValuePairs<String, Any> { [:] }
}
