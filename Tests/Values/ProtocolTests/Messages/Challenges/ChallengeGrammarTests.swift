import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// RFC 9110, section 11.6.1, with the cases that Julian Reschke collected for browsers, and more.
@Suite struct ChallengeGrammarTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let fields: [String]
    let challenges: [AuthenticationChallenge]
    var testDescription: String { name }

    init(_ name: String, _ fields: [String], _ challenges: [AuthenticationChallenge]) {
      self.name = name
      self.fields = fields
      self.challenges = challenges
    }

    init(_ name: String, _ field: String, _ challenges: AuthenticationChallenge...) {
      self.init(name, [field], challenges)
    }
  }

  static func basic(_ parameters: [String: String] = [:]) -> AuthenticationChallenge {
    AuthenticationChallenge(scheme: "Basic", parameters: parameters)
  }

  static func new(_ parameters: [String: String] = [:]) -> AuthenticationChallenge {
    AuthenticationChallenge(scheme: "Newauth", parameters: parameters)
  }

  /// The cases of greenbytes.de/tech/tc/httpauth, with the same names.
  ///
  /// If a case is not read as a whole, its name here also says why.
  static let collected: [Row] = [
    Row("simplebasic", #"Basic realm="foo""#, basic(["realm": "foo"])),
    Row("simplebasiclf", "Basic\n realm=\"foo\"", basic(["realm": "foo"])),
    Row(
      "simplebasicucase", #"BASIC REALM="foo""#,
      AuthenticationChallenge(scheme: "BASIC", parameters: ["realm": "foo"])),
    // A server must quote a realm, but the grammar also accepts a token, as foo and 'foo' here.
    Row("simplebasictok", "Basic realm=foo", basic(["realm": "foo"])),
    Row("simplebasictokbs: a token has no backslash", #"Basic realm=\f\o\o"#, basic()),
    Row("simplebasicsq", "Basic realm='foo'", basic(["realm": "'foo'"])),
    Row("simplebasicpct", #"Basic realm="foo%20bar""#, basic(["realm": "foo%20bar"])),
    Row("simplebasiccomma", #"Basic , realm="foo""#, basic(["realm": "foo"])),
    Row("simplebasiccomma2: no space, no parameters", #"Basic, realm="foo""#, basic()),
    Row("simplebasicnorealm", "Basic", basic()),
    Row("simplebasic2realms: doubled", #"Basic realm="foo", realm="bar""#),
    Row("simplebasicwsrealm", #"Basic realm = "foo""#, basic(["realm": "foo"])),
    Row("simplebasicrealmsqc", #"Basic realm="\f\o\o""#, basic(["realm": "foo"])),
    Row("simplebasicrealmsqc2", #"Basic realm="\"foo\"""#, basic(["realm": "\"foo\""])),
    Row(
      "simplebasicnewparam1", #"Basic realm="foo", bar="xyz",, a=b,,,c=d"#,
      basic(["realm": "foo", "bar": "xyz", "a": "b", "c": "d"])),
    Row(
      "simplebasicnewparam2", #"Basic bar="xyz", realm="foo""#,
      basic(["bar": "xyz", "realm": "foo"])),
    // The transport replaces bytes that are not UTF-8 by U+FFFD.
    Row(
      "simplebasicrealmiso88591", "Basic realm=\"foo-\u{FFFD}\"", basic(["realm": "foo-\u{FFFD}"])),
    Row("simplebasicrealmutf8", "Basic realm=\"foo-\u{E4}\"", basic(["realm": "foo-\u{E4}"])),
    Row(
      "simplebasicrealmrfc2047", #"Basic realm="=?ISO-8859-1?Q?foo-=E4?=""#,
      basic(["realm": "=?ISO-8859-1?Q?foo-=E4?="])),
    Row(
      "multibasicunknown", #"Basic realm="basic", Newauth realm="newauth""#,
      basic(["realm": "basic"]), new(["realm": "newauth"])),
    Row(
      "multibasicunknownnoparam", #"Basic realm="basic", Newauth"#, basic(["realm": "basic"]), new()
    ),
    Row(
      "multibasicunknown2", #"Newauth realm="newauth", Basic realm="basic""#,
      new(["realm": "newauth"]), basic(["realm": "basic"])),
    Row("multibasicunknown2np", #"Newauth, Basic realm="basic""#, new(), basic(["realm": "basic"])),
    Row(
      "multibasicunknown2mf", [#"Newauth realm="newauth""#, #"Basic realm="basic""#],
      [new(["realm": "newauth"]), basic(["realm": "basic"])]),
    Row("multibasicempty", #",Basic realm="basic""#, basic(["realm": "basic"])),
    Row(
      "multibasicqs",
      #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple" "#,
      new(["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
      basic(["realm": "simple"])),
    Row(
      "multidisgscheme", #"Newauth realm="Newauth Realm", basic=foo, Basic realm="Basic Realm" "#,
      new(["realm": "Newauth Realm", "basic": "foo"]), basic(["realm": "Basic Realm"])),
    Row("unknown", #"Newauth param="value""#, new(["param": "value"])),
    Row(
      "disguisedrealm", #"Basic foo="realm=nottherealm", realm="basic""#,
      basic(["foo": "realm=nottherealm", "realm": "basic"])),
    Row(
      "disguisedrealm2", #"Basic nottherealm="nottherealm", realm="basic""#,
      basic(["nottherealm": "nottherealm", "realm": "basic"])),
    Row("missingquote: the parameter does not end", #"Basic realm="basic"#, basic()),
  ]

  static func token68(_ text: String?, scheme: String = "Negotiate") -> AuthenticationChallenge {
    AuthenticationChallenge(scheme: scheme, token68: text)
  }

  static let more: [Row] = [
    Row("nothing", [] as [String], []),
    Row("an empty field", ""),
    Row("only commas", " , ,\t,, "),
    Row(
      "a comma in quotes", #"Basic realm="a, Newauth x=1", b=c"#,
      basic(["realm": "a, Newauth x=1", "b": "c"])),
    Row(
      "an escaped backslash at the end", #"Basic realm="a\\", b=c"#,
      basic(["realm": #"a\"#, "b": "c"])),
    Row(
      "an escaped quote and a comma", #"Basic realm="a\",b=\"", c=d"#,
      basic(["realm": #"a",b=""#, "c": "d"])),
    Row("an empty value", #"Basic realm="""#, basic(["realm": ""])),
    Row("a tab in quotes", "Basic realm=\"a\tb\"", basic(["realm": "a\tb"])),
    Row("tabs around", "\tBasic\trealm\t=\t\"a\"\t,\tb=c\t", basic(["realm": "a", "b": "c"])),
    Row(
      "white space around the sign", "Basic realm = foo , b= c ,d =e",
      basic(["realm": "foo", "b": "c", "d": "e"])),
    Row(
      "every mark of a token", "Basic !#$%&'*+-.^_`|~=!#$%&'*+-.^_`|~",
      basic(["!#$%&'*+-.^_`|~": "!#$%&'*+-.^_`|~"])),
    Row("a name in capitals", "Basic REALM=Foo", basic(["realm": "Foo"])),
    Row("token68", "Negotiate YIIabc+/-._~==", token68("YIIabc+/-._~==")),
    Row("token68 of one letter", "Negotiate a", token68("a")),
    Row("token68 that looks like a parameter", "Negotiate realm=", token68("realm=")),
    Row(
      "token68 before another", #"Negotiate YII=, Basic realm="b""#, token68("YII="),
      basic(["realm": "b"])),
    Row("token68 takes no parameter", #"Negotiate YII=, realm="b""#, token68("YII=")),
    Row(
      "schemes alone", "Negotiate, NTLM ,Basic", token68(nil), token68(nil, scheme: "NTLM"), basic()
    ),
    Row(
      "a scheme alone before one with parameters", #"Negotiate , Basic realm="b""#, token68(nil),
      basic(["realm": "b"])),
    Row("a parameter without a scheme", #"realm="foo""#),
    Row("a value without a name", #"Basic ="foo""#),
    Row("a string in place of a scheme", #""Basic" realm=x"#),
    Row("two words", "Basic a b, Newauth x=y", basic()),
    Row("no comma between parameters", #"Basic realm="a" b="c""#, basic(["realm": "a"])),
    Row("an unquoted text", "Basic realm=a, b=The end, c=d", basic(["realm": "a", "b": "The"])),
    Row(
      "quotes within quotes", #"Basic realm="a", b="the "end"", c=d"#,
      basic(["realm": "a", "b": "the "])),
    Row("an escape at the end", #"Basic realm="a", b="x\"#, basic(["realm": "a"])),
    Row(
      "a fault after a whole challenge", "Basic realm=a, Newauth b=c, (", basic(["realm": "a"]),
      new(["b": "c"])),
    Row(
      "a fault ends its own field only", ["Basic realm=a, (, b=c", "Newauth b=c"],
      [basic(["realm": "a"]), new(["b": "c"])]),
    Row("doubled in another letter case", "Basic Realm=a, rEALM=a"),
    Row(
      "doubled, and another challenge after it",
      "Basic realm=a, realm=b, c=d, Newauth e=f", new(["e": "f"])),
    Row(
      "the same name in two challenges", "Basic realm=a, Newauth realm=a", basic(["realm": "a"]),
      new(["realm": "a"])),
    Row("NUL, CR and LF are spaces", "Basic\r\n\trealm=a,\0b=c", basic(["realm": "a", "b": "c"])),
    Row("another control character", "Basic realm=\"a\u{1}\"", basic()),
    Row("an escaped control character", "Basic realm=\"a\\\u{1B}\"", basic()),
    Row("DEL", "Basic a=b, realm=\"\u{7F}\"", basic(["a": "b"])),
    Row("a letter beyond ASCII outside quotes", "Basic realm=\u{E4}", basic()),
  ]

  @Test(arguments: collected + more)
  func `a field is read as the grammar says`(row: Row) {
    #expect(AuthenticationChallenge.challenges(in: row.fields) == row.challenges)
  }

  @Test func `a folded header line is one field`() throws {
    let lines = "WWW-Authenticate: Basic\r\n realm=\"foo\"\r\nWWW-Authenticate: Newauth\r\n"
    let fields = try #require(HeaderFields(lines: Array(lines.utf8)))
    #expect(
      AuthenticationChallenge.challenges(in: fields.values(for: "www-authenticate"))
        == [Self.basic(["realm": "foo"]), Self.new()])
  }

  // MARK: Limits

  @Test func `a field of more than 8 KiB is skipped, and the next one is read`() {
    let name = #"Basic realm="a", b=""#
    let fill = String(repeating: "x", count: 8 * 1024 - name.utf8.count - 1)
    let whole = AuthenticationChallenge.challenges(in: [name + fill + "\""])
    #expect(whole == [Self.basic(["realm": "a", "b": fill])])
    #expect(
      AuthenticationChallenge.challenges(in: [name + fill + "x\"", "Newauth"]) == [Self.new()])
  }

  @Test func `the number of fields, challenges and parameters is limited`() {
    let fields = (0..<17).map { "Scheme\($0)" }
    #expect(
      AuthenticationChallenge.challenges(in: fields).map(\.scheme) == Array(fields.prefix(16)))
    let schemes = (0..<33).map { "Scheme\($0)" }
    #expect(
      AuthenticationChallenge.challenges(in: [schemes.joined(separator: ",")]).map(\.scheme)
        == Array(schemes.prefix(32)))
    let parameters = (0..<33).map { "p\($0)=v" }.joined(separator: ",")
    let found = AuthenticationChallenge.challenges(in: ["Basic \(parameters), Newauth"])
    #expect(found.count == 1)
    #expect(found.first?.parameters.count == 32)
    #expect(found.first?.parameters["p31"] == "v")
  }
}
