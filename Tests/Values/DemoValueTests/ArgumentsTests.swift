import Testing

@testable import sq_demo

@Suite struct `The arguments` {
  private static let name = Option("--name", value: "NAME", help: "A name.")
  private static let flag = Option("--flag", help: "A flag.")

  private static let many = Option("--many", value: "X", repeats: true, help: "Some.")

  private func parse(
    _ words: [String], operands: [String] = []
  ) throws(Failure) -> Arguments {
    try Arguments(
      words, forms: [Form(operands: operands)], options: [Self.name, Self.flag, Self.many])
  }

  @Test(arguments: [
    ["a", "-", "--flag"], ["--flag", "a", "-"], ["a", "--flag", "-"], ["a", "--name", "x", "-"],
    ["--flag", "a", "--name", "x", "-"],
  ])
  func `operands may stand before, between and after options`(words: [String]) throws {
    #expect(try parse(words, operands: ["A", "B"]).operands == ["a", "-"])
  }

  @Test(arguments: [
    ([], "A is missing"), (["a"], "B is missing"), (["a", "--flag"], "B is missing"),
    (["a", "b", "c"], "unexpected argument \"c\""),
  ])
  func `a missing or unexpected operand is wrong usage`(words: [String], message: String) throws {
    let failure = try #require(throws: Failure.self) { try parse(words, operands: ["A", "B"]) }
    #expect(failure.message == message)
    #expect(failure.status == .wrongUsage)
  }

  @Test func `a repeatable option returns all its values`() throws {
    #expect(try parse(["--many", "a", "--flag", "--many=b"]).all(Self.many) == ["a", "b"])
    #expect(try parse([]).all(Self.many) == [])
  }

  @Test(arguments: [
    ["--name", "x", "--flag"], ["--flag", "--name=x"], ["--name=x", "--flag"],
  ])
  func `an option's value may follow a space or an equals sign, and options may have any order`(
    words: [String]
  ) throws {
    let arguments = try parse(words)
    #expect(arguments[Self.name] == "x")
    #expect(arguments.contains(Self.flag))
    #expect(!arguments.wantsHelp)
  }

  @Test(arguments: [
    (["--name=a=b"], "a=b"), (["--name=--x"], "--x"), (["--name", "-1"], "-1"),
    (["--name", "a b"], "a b"), (["--name", "-"], "-"), (["--name=\u{301}a="], "\u{301}a="),
  ])
  func `an option's value is not changed`(words: [String], value: String) throws {
    #expect(try parse(words)[Self.name] == value)
  }

  @Test(arguments: [
    (["--nam", "x"], "unknown option --nam; did you mean --name?"),
    (["--hlep"], "unknown option --hlep; did you mean --help?"),
    (["--colour"], "unknown option --colour"),
    (["-x"], "unknown option -x"),
    (["--"], "unknown option --"),
    (["--name"], "--name needs a value: NAME"),
    (["--name", "--flag"], "--name needs a value: NAME"),
    (["--name="], "--name needs a value: NAME"),
    (["--name", ""], "--name needs a value: NAME"),
    (["--name", "a", "--name", "b"], "--name is given twice"),
    (["--name=a", "--name=a"], "--name is given twice"),
    (["--flag", "--flag"], "--flag is given twice"),
    (["--flag=yes"], "--flag takes no value"),
    (["x"], "unexpected argument \"x\""),
    (["-"], "unexpected argument \"-\""),
    (["\u{1B}[31mx"], "unexpected argument \"?[31mx\""),
  ])
  func `an unknown or misused option or an unexpected argument is wrong usage`(
    words: [String], message: String
  ) {
    #expect(throws: Failure.usage(message)) { try parse(words) }
  }

  @Test(arguments: [
    ["--client-secret", "hunter2"], ["--client-secret=hunter2"], ["--secret=hunter2"],
    ["--unknown=hunter2"], ["--passphrase", "hunter2"], ["--password=hunter2"],
    // An equals sign and the mark after it form one Character.
    ["--client-secret=\u{301}hunter2"], ["--unknown=\u{301}hunter2"],
  ])
  func `an error never repeats a possible secret`(words: [String]) throws {
    let failure = try #require(throws: Failure.self) { try parse(words) }
    #expect(failure.status == .wrongUsage)
    #expect(!failure.lines.joined().contains("hunter2"))
  }

  @Test(arguments: [["--help"], ["-h"], ["--flag", "--help", "--unknown"]])
  func `help has a long and a short option`(words: [String]) throws {
    #expect(try parse(words).wantsHelp)
  }
}

@Suite struct `The forms of a command` {
  private static let output = Option("--output", short: "-o", value: "PATH", help: "A path.")
  private static let forms = [
    Form(), Form(action: "get", operands: ["FILE"]),
    Form(action: "rename", operands: ["FILE", "TITLE"]),
  ]

  private func parse(_ words: [String]) throws(Failure) -> Arguments {
    try Arguments(words, forms: Self.forms, options: [Self.output])
  }

  @Test(
    arguments: [
      ([], nil, []), (["get", "a"], "get", ["a"]), (["get", "get"], "get", ["get"]),
      (["rename", "-o", "x", "a", "b"], "rename", ["a", "b"]), (["-o=x"], nil, []),
    ] as [([String], String?, [String])])
  func `the first word selects the action and its operands`(
    words: [String], action: String?, operands: [String]
  ) throws {
    let arguments = try parse(words)
    #expect(arguments.action == action)
    #expect(arguments.operands == operands)
  }

  @Test(arguments: [
    (["get"], "FILE is missing"), (["rename", "a"], "TITLE is missing"),
    (["get", "a", "b"], "unexpected argument \"b\""),
    (["put", "a"], "\"put\" is not one of get, rename"),
    (["gte", "a"], "\"gte\" is not one of get, rename; did you mean get?"),
    (["-o", "a", "--output", "b"], "--output is given twice"),
    (["-o"], "--output needs a value: PATH"),
  ])
  func `a missing, unexpected or unknown word or a misused option is wrong usage`(
    words: [String], message: String
  ) {
    #expect(throws: Failure.usage(message)) { try parse(words) }
  }

  @Test func `the last operand may be optional`() throws {
    let forms = [Form(operands: ["A", "B"], optional: "B")]
    func operands(_ words: [String]) throws(Failure) -> [String] {
      try Arguments(words, forms: forms, options: []).operands
    }
    #expect(try operands(["a"]) == ["a"])
    #expect(try operands(["a", "b"]) == ["a", "b"])
    #expect(throws: Failure.usage("A is missing")) { try operands([]) }
    #expect(throws: Failure.usage("unexpected argument \"c\"")) { try operands(["a", "b", "c"]) }
  }

  @Test(arguments: [["-o", "a"], ["-o=a"], ["--output", "a"]])
  func `an option can also be given by its short name`(words: [String]) throws {
    #expect(try parse(words)[Self.output] == "a")
  }
}
