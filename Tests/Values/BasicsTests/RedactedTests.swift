import SQBasics
import Testing

/// How Swift prints a type that stores a secret.
@Suite struct RedactedTests {
  @Test(arguments: [Silent(), Silent.Choice.one("s3cr3t")] as [any Redacted & Sendable])
  func `a redacted type without a description prints only its name`(value: any Redacted & Sendable)
  {
    let name = "\(type(of: value))"
    #expect(Self.texts(of: value) == [name, name, name, "- \(name)\n", "\(name)\n"])
    #expect(Mirror(reflecting: value).children.isEmpty)
  }

  @Test func `a redacted class prints only its name`() {
    #expect(
      Self.texts(of: Silent.Keeper()) == [
        "Keeper", "Keeper", "Keeper", "- Keeper #0\n", "Keeper\n",
      ])
  }

  @Test func `a redacted type with a description prints only the description`() {
    #expect(
      Self.texts(of: Named()) == ["client c", "client c", "client c", "- client c\n", "client c\n"])
  }

  @Test func `a dump shows the visible parts below the description`() {
    #expect(
      Self.texts(of: Divided()) == [
        "Divided", "Divided", "Divided", "▿ Divided\n  - name: \"n\"\n",
        "▿ Divided\n  - name : \"n\"\n",
      ])
  }

  @Test func `a container prints only the description of a redacted value`() {
    #expect("\([Named()])" == "[client c]")
    #expect("\(Named() as Named?)" == "Optional(client c)")
    #expect("\(["k": (1, Named())])" == "[\"k\": (1, client c)]")
  }

  /// Returns what text interpolation, `print`, `debugPrint`, `dump` and a debugger's `po` show, in
  /// this order.
  private static func texts(of value: any Redacted) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return [
      "\(value)", String(describing: value), String(reflecting: value), dumped,
      _stringForPrintObject(value),
    ]
  }
}

private struct Silent: Redacted {
  enum Choice: Redacted { case one(String) }
  final class Keeper: Redacted, Sendable { let secret = "s3cr3t" }

  let secret = "s3cr3t"
}

private struct Named: Redacted {
  let secret = "s3cr3t"
  var description: String { "client c" }
}

private struct Divided: Redacted {
  let name = "n"
  let secret = "s3cr3t"
  var shownParts: KeyValuePairs<String, Any> { ["name": name] }
}
