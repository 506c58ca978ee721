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

@Suite struct `The commands` {
  private func page(_ words: [String]) throws -> String? {
    guard case .print(let text) = try Invocation(words, commands: SQDemo.commands) else {
      return nil
    }
    return text
  }

  @Test(arguments: [
    ([], "tour"), (["--browser", "system"], "tour"), (["tour"], "tour"), (["login"], "login"),
    (["token"], "token"), (["logout"], "logout"), (["sandbox"], "sandbox"),
    (["watch"], "watch"), (["revoke"], "revoke"), (["accounts"], "accounts"),
    (["call", "GET", "/api/me"], "call"), (["cookbook"], "cookbook"), (["files"], "files"),
    (["completion", "zsh"], "completion"), (["rpc", "http://127.0.0.1:1"], "rpc"),
    (["rpc", "--sandbox"], "rpc"),
    (["--rpc", "http://127.0.0.1:1"], "tour"),
    (["token", "--dpop", "--par"], "token"), (["sandbox", "--profile", "atproto"], "sandbox"),
    (["rpc", "--sandbox", "--par"], "rpc"), (["rpc", "--sandbox", "--dpop"], "rpc"),
    (["files", "get", "A", "-o", "b"], "files"), (["files", "rename", "A", "B"], "files"),
  ])
  func `a command is found by its name, and no name means the tour`(words: [String], name: String)
    throws
  {
    guard case .run(let command, _) = try Invocation(words, commands: SQDemo.commands) else {
      Issue.record("no command was selected")
      return
    }
    #expect(type(of: command).name == name)
  }

  @Test(arguments: SQDemo.commands.map { $0.name })
  func `every command has a help page of at most 80 columns that lists all its options`(
    name: String
  ) throws {
    let text = try #require(try page(["help", name]))
    #expect(try page([name, "--help"]) == text)
    #expect(text.contains("Usage: sq-demo \(name)"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let command = try #require(SQDemo.commands.first { $0.name == name })
    let shared = try #require(try page(["help", "options"]))
    let own = text.firstRange(of: "\n\nShared options").map { text[..<$0.lowerBound] } ?? text[...]
    for option in command.options {
      #expect(text.contains(option.name))
      let isShared = OptionsTopic.shared.contains(option)
      #expect((isShared ? shared : text).contains("  \(option.term)"), "\(option.name)")
      #expect(!isShared || !own.contains("  \(option.term) "))
    }
  }

  @Test(arguments: SQDemo.commands.map { $0.name })
  func `a help page for 40 columns has wider lines only for usages and long terms`(
    name: String
  ) throws {
    let command = try #require(SQDemo.commands.first { $0.name == name })
    let pages = [
      Help.overview(SQDemo.commands, width: 40), Help.page(command, width: 40),
      Help.page(OptionsTopic.self, width: 40),
    ]
    for line in pages.flatMap({ $0.split(separator: "\n") }) where line.count > 40 {
      let isUsage = line.hasPrefix("Usage: ") || line.hasPrefix("       sq-demo ")
      let words = line.split(separator: " ").count
      #expect(isUsage || words == (line.hasPrefix("  -") ? 2 : 1), "\(line)")
    }
  }

  @Test func `the options page explains each shared option once`() throws {
    let text = try #require(try page(["help", "options"]))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    for option in AccountOptions.optionsOrSandbox {
      #expect(text.ranges(of: "  \(option.term)").count == 1, "\(option.name)")
    }
  }

  @Test func `the stores page explains every kind of store`() throws {
    let text = try #require(try page(["help", "stores"]))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    for store in [
      "keyring", "encrypted:PATH", "encrypted-sqlite:PATH", "file:PATH", "sqlite:PATH",
      "postgresql://USER@HOST/DATABASE", "memory",
    ] {
      #expect(text.contains("\n  \(store)"), "\(store)")
    }
    for words in ["PATH.key", "SQ_STORE_PASSPHRASE", "locked and there is no display"] {
      #expect(text.contains(words), "\(words)")
    }
  }

  @Test func `help, --help and -h list all commands`() throws {
    let text = try #require(try page(["help"]))
    #expect(try page(["--help"]) == text)
    #expect(try page(["-h"]) == text)
    for command in SQDemo.commands { #expect(text.contains("  \(command.name) ")) }
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: [
    ["logn"], ["help", "logn"], ["help", "login", "token"], ["--version", "x"], ["--help", "x"],
    ["login", "now"], ["--issuer", "a.example"], ["call"], ["call", "GET"],
    ["call", "GET", "/a", "/b"], ["files", "put"], ["files", "get", "a", "b"], ["files", "x"],
    ["files", "rename", "a"], ["completion"], ["completion", "sh"],
    ["tour", "--redirect-uri", "com.example:/x"], ["tour", "--browser", "print"],
    ["tour", "--drive", "/x"], ["tour", "--auth", "post"],
    ["token", "--sandbox", "--account", "x"],
    ["token", "--sandbox", "--store", "file:x"], ["files", "--sandbox", "--issuer", "https://a"],
    ["revoke", "--sandbox"], ["rpc", "http://127.0.0.1:1", "--sandbox"],
    ["sandbox", "--profile", "fapi2"],
    ["sandbox", "--profile", "fapi2", "--key", "x"], ["logout", "--key", "x"],
    ["files", "put", "a", "--output", "b"], ["files", "--title", "x"],
  ])
  func `a missing, unknown or conflicting word or option is wrong usage with a hint`(
    words: [String]
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.status == .wrongUsage)
    #expect(failure.hint?.contains("Run 'sq-demo ") == true)
  }

  @Test(arguments: [
    (["--verbose", "token"], "sq-demo token --verbose"),
    (["--sandbox", "files"], "sq-demo files --sandbox"),
    (["--store=file:x", "accounts"], "sq-demo accounts --store"),
  ])
  func `options before the name of a command are reported with the right order`(
    words: [String], command: String
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.status == .wrongUsage)
    #expect(
      failure.hint == "The name of the command comes before its options: '\(command)'.",
      "\(failure)")
  }

  @Test(arguments: [
    (["login", "--issuer", "id.example.com", "--client-id", "app"], "https://id.example.com"),
    (["login", "--issuer", "id.example.com:8443/a"], "https://id.example.com:8443/a"),
    (["rpc", "api.example.com"], "https://api.example.com"),
    (["token", "--resource", "api.example.com"], "https://api.example.com"),
  ])
  func `an error proposes a scheme for an address without one`(
    words: [String], address: String
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.status == .wrongUsage)
    #expect(failure.hint?.hasPrefix("Did you mean \(address)?\n") == true, "\(failure)")
  }

  @Test func `watch --all takes a client secret only with the client to which it belongs`() throws {
    func watch(_ words: [String]) throws(Failure) -> Watch {
      try Watch(
        Arguments(
          ["--all"] + words, options: Watch.options,
          secrets: Secrets(client: Secret(.clientSecret, "hunter2"))))
    }
    let failure = try #require(throws: Failure.self) { try watch([]) }
    #expect(failure.status == .wrongUsage && failure.message.contains("--client-id"))
    _ = try watch(["--issuer", "https://id.example.com", "--client-id", "app"])
  }

  @Test(arguments: [
    (["logn"], "login"), (["tokn", "--json"], "token"), (["acounts"], "accounts"),
    (["hlep"], "help"),
    (["help", "logn"], "login"), (["help", "option"], "options"),
    (["--provder", "x"], "--provider"),
    (["login", "-issuer", "x"], "--issuer"), (["call", "GET", "/", "--boddy", "x"], "--body"),
    (["login", "--provider", "gogle", "--client-id", "x"], "google"),
    (["login", "--store", "fil:x"], "file:"), (["completion", "bsh"], "bash"),
  ])
  func `an error suggests the word that a misspelt word may mean`(
    words: [String], meant: String
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.message.hasSuffix("; did you mean \(meant)?"), "\(failure.message)")
  }
}
