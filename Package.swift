// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT
import PackageDescription

/// The parts to build: names of targets and of some lists below, separated by spaces.
///
/// If it is `nil`, everything but the benchmarks is built.
let parts = Context.environment["SQ_PARTS"]

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of the libraries that apps link.
///
/// With SQ_OPTIMIZED, debug builds optimize these libraries. Each file is optimized separately, so
/// a build after a change of one file stays quick. Optimized tests would take twice the time to
/// build and gain nothing.
let librarySettings =
  settings + (Context.environment["SQ_OPTIMIZED"] == nil ? [] : [.unsafeFlags(["-O"])])

/// The pkg-config names of two libraries whose headers the compiler finds by itself on Linux.
///
/// On Debian 13, their pkg-config files contain Kerberos flags that SwiftPM does not allow. With
/// these names, each build of each app would show a warning. Homebrew's headers need the names.
#if os(Linux)
  let curl: String? = nil
  let postgreSQL: String? = nil
#else
  let curl: String? = "libcurl"
  let postgreSQL: String? = "libpq"
#endif

let products: [Product] = [
  .library(name: "SequencingOAuth", targets: ["SequencingOAuth"]),
  .library(name: "SequencingOAuthPipes", targets: ["SequencingOAuthPipes"]),
  .library(name: "SequencingOAuthBackend", targets: ["SequencingOAuthBackend"]),
  .library(name: "SequencingOAuthDiscovery", targets: ["SequencingOAuthDiscovery"]),
  .library(name: "SequencingOAuthFoundation", targets: ["SequencingOAuthFoundation"]),
  .library(name: "SequencingOAuthSQLite", targets: ["SequencingOAuthSQLite"]),
  .library(name: "SequencingOAuthPostgreSQL", targets: ["SequencingOAuthPostgreSQL"]),
  .library(name: "SequencingOAuthSecretService", targets: ["SequencingOAuthSecretService"]),
  .library(name: "SequencingOAuthGRPC", targets: ["SequencingOAuthGRPC"]),
  .library(name: "SequencingOAuthTesting", targets: ["SequencingOAuthTesting"]),
  .library(name: "OAuthSandbox", targets: ["OAuthSandbox"]),
  .library(name: "OAuthSandboxGRPC", targets: ["OAuthSandboxGRPC"]),
  .executable(name: "sq-demo", targets: ["sq-demo"]),
]

/// The libraries that apps use, and the demo.
let libraries: [Target] = [
  .target(
    name: "SequencingOAuth",
    dependencies: [
      "SQFoundation", "SQLibC", "SQBasics", "SQFiles", "SQCrypto", "SQLoopback", "SQLoopbackPages",
      "CSQCurl",
      "CSQSockets",
      "CSQTLS",
    ],
    // These images are for copying. As a resource they would link Foundation, for its Bundle.
    exclude: ["SignInButton/Images"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthPipes",
    dependencies: ["SQFoundation", "SQLibC", "SequencingOAuth", "SQCrypto", "SQBasics", "SQFiles"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthBackend",
    dependencies: ["SQFoundation", "SequencingOAuth", "SQBasics", "SQCrypto"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthDiscovery",
    dependencies: ["SQFoundation", "SequencingOAuth", "SQBasics"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthFoundation",
    dependencies: ["SequencingOAuth"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthSQLite",
    dependencies: [
      "SQFoundation", "SequencingOAuth", "SQBasics", "SQFiles", "SQCrypto", "CSQSQLite",
    ],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthPostgreSQL",
    dependencies: [
      "SQFoundation", "SQLibC", "SequencingOAuth", "SQBasics", "SQFiles", "SQCrypto",
      "CSQPostgreSQL",
      "CSQSockets",
    ],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthSecretService",
    dependencies: [
      "SQFoundation", "SQLibC", "SequencingOAuth", "SQBasics", "SQFiles", "SQCrypto", "CSQSecret",
    ],
    swiftSettings: librarySettings),
  // CSecret declares libsecret's functions itself and loads the library at run time, so it needs
  // neither headers nor linker flags.
  .target(name: "CSQSecret"),
  // Only C can embed a file when it is compiled; as a resource the article would need Foundation.
  .target(name: "CSQTroubleshooting"),
  .target(
    name: "SequencingOAuthGRPC",
    dependencies: [
      "SQFoundation", "SQLibC", "SequencingOAuth", "SQHTTP2", "SQBasics", "CSQTLS", "CSQZlib",
    ],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthTesting",
    dependencies: [
      "SQFoundation", "SequencingOAuth", "SequencingOAuthBackend", "SQBasics", "SQCrypto",
      "SQLoopback",
    ],
    swiftSettings: settings),
  .target(
    name: "OAuthSandbox",
    dependencies: [
      "SQFoundation", "SQLibC", "SQBasics", "SQLoopback", "SQLoopbackPages", "CSQCrypto",
    ],
    swiftSettings: settings),
  .target(
    name: "OAuthSandboxGRPC",
    dependencies: [
      "SQFoundation", "OAuthSandbox", "SQBasics", "SQHTTP2", "SQLoopback", "SQLoopbackHTTP2",
    ],
    swiftSettings: settings),
  .target(
    name: "SQLoopback", dependencies: ["SQFoundation", "SQLibC", "SQBasics", "CSQSockets"],
    swiftSettings: librarySettings),
  .target(
    name: "SQLoopbackPages", dependencies: ["SQFoundation", "SQBasics", "SQLoopback"],
    swiftSettings: librarySettings),
  .target(
    name: "SQLoopbackHTTP2", dependencies: ["SQBasics", "SQHTTP2", "SQLoopback"],
    swiftSettings: settings),
  .target(
    name: "SQHTTP2", dependencies: ["SQBasics", "CSQNghttp2"],
    swiftSettings: librarySettings),
  .target(
    name: "SQCrypto", dependencies: ["SQFoundation", "SQBasics", "CSQCrypto"],
    swiftSettings: librarySettings),
  .target(
    name: "SQFiles", dependencies: ["SQFoundation", "SQLibC", "SQBasics"],
    swiftSettings: librarySettings),
  .target(
    name: "SQBasics", dependencies: ["SQLibC", "CSQSockets"], swiftSettings: librarySettings),
  .target(name: "SQFoundation", swiftSettings: librarySettings),
  .target(name: "SQLibC", swiftSettings: librarySettings),
  .systemLibrary(name: "CSQSockets"),
  .systemLibrary(
    name: "CSQCurl", pkgConfig: curl, providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
  .systemLibrary(
    name: "CSQCrypto", pkgConfig: "libcrypto",
    providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
  .systemLibrary(
    name: "CSQTLS", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
  .systemLibrary(
    name: "CSQNghttp2", pkgConfig: "libnghttp2",
    providers: [.apt(["libnghttp2-dev"]), .brew(["nghttp2"])]),
  .systemLibrary(
    name: "CSQSQLite", pkgConfig: "sqlite3",
    providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
  .systemLibrary(
    name: "CSQPostgreSQL", pkgConfig: postgreSQL,
    providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
  .systemLibrary(
    name: "CSQZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
  .executableTarget(
    name: "sq-demo",
    dependencies: [
      "SQFoundation", "SQLibC", "SequencingOAuth", "SQCrypto", "SQFiles", "SequencingOAuthBackend",
      "SequencingOAuthPipes", "SequencingOAuthDiscovery",
      "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
      "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
      "SQBasics", "CSQSockets", "CSQTroubleshooting",
    ],
    path: "Demo",
    // The examples are a separate package, so that no build of this one links them.
    exclude: ["Examples", "Images"],
    swiftSettings: settings),
]

/// Returns a test target, whose folder in Tests also gives it its name.
@MainActor func tests(
  _ path: String, name: String? = nil, exclude: [String] = [], _ dependencies: [Target.Dependency]
) -> Target {
  .testTarget(
    name: name ?? String(path.split(separator: "/").last ?? ""), dependencies: dependencies,
    path: "Tests/" + path, exclude: exclude, swiftSettings: settings)
}

/// Returns a target of code that the tests of a tier share, in a folder of Tests/Support.
@MainActor func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Support/" + name,
    swiftSettings: settings)
}

/// Tests of values, without sockets and processes, and with temporary files only.
let values: [Target] = [
  tests(
    "Values/JOSETests", exclude: ["Vectors"],
    ["SequencingOAuth", "SQFiles", "SQCrypto", "SQBasics", "TestSupport", "CSQCrypto"]),
  tests(
    "Values/ProtocolTests",
    [
      "SequencingOAuth", "SQCrypto", "SequencingOAuthBackend", "SequencingOAuthPipes", "SQBasics",
      "TestSupport", "CSQTLS",
    ]),
  tests(
    "Values/SessionTests",
    [
      "SequencingOAuth", "SQLoopback", "SequencingOAuthBackend", "SequencingOAuthPipes", "SQBasics",
      "TestSupport",
    ]),
  tests(
    "Values/StoreValueTests",
    [
      "SequencingOAuth", "SQBasics", "SQCrypto", "SQFiles", "SequencingOAuthBackend",
      "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite", "TestSupport",
    ]),
  tests(
    "Values/GRPCValueTests",
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "SQHTTP2", "SQBasics", "TestSupport",
      "GRPCValueSupport",
    ]),
  tests(
    "Values/SequencingOAuthFoundationTests",
    ["SequencingOAuthFoundation", "SequencingOAuth", "SQBasics"]),
  tests(
    "Values/FakeTests",
    ["SequencingOAuthTesting", "SequencingOAuth", "SequencingOAuthBackend", "SQBasics"]),
  tests("Values/SandboxValueTests", ["OAuthSandbox", "SQLoopbackPages", "SQLoopback", "SQBasics"]),
  tests(
    "Values/DemoValueTests",
    [
      "sq-demo", "SequencingOAuth", "SQFiles", "SequencingOAuthPipes", "OAuthSandbox", "SQBasics",
      "TestSupport",
    ]),
  tests("Values/BasicsTests", ["SQBasics", "TestSupport"]),
  tests("Values/ChartsTests", ["Charts"]),
  tests(
    "Fuzzers", name: "FuzzerTests", exclude: ["Dictionaries", "LibFuzzer", "Seeds"],
    [
      "SequencingOAuth", "SQCrypto", "SequencingOAuthBackend", "SequencingOAuthPipes",
      "SequencingOAuthGRPC", "SQHTTP2", "SQBasics", "SQLoopback", "CSQCurl",
    ]),
]

/// The dependencies of tests of `SequencingOAuth` against servers in their own process.
let clientWithServers: [Target.Dependency] = [
  "SequencingOAuth", "SequencingOAuthPipes", "SequencingOAuthBackend", "SQFiles", "SQCrypto",
  "SequencingOAuthTesting", "OAuthSandbox", "SQBasics", "SQLoopback", "TestSupport",
  "LoopbackSupport",
]

/// Tests with servers in their own process, on loopback addresses.
let loopback: [Target] = [
  tests("Loopback/EventLoopTests", ["SQBasics", "TestSupport"]),
  tests("Loopback/TransportTests", clientWithServers),
  tests("Loopback/SignInTests", clientWithServers),
  tests("Loopback/ProviderTests", clientWithServers),
  tests("Loopback/DiscoveryTests", ["SequencingOAuthDiscovery"] + clientWithServers),
  tests(
    "Loopback/GRPCLoopbackTests",
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "SQHTTP2", "SQLoopbackHTTP2", "SQBasics",
      "SQLoopback",
      "TestSupport", "LoopbackSupport", "GRPCValueSupport", "GRPCSupport",
    ]),
  tests(
    "Loopback/OAuthSandboxTests",
    ["OAuthSandbox", "SQBasics", "SQCrypto", "SQLoopback", "TestSupport", "LoopbackSupport"]),
  tests(
    "Loopback/LoopbackHTTPTests",
    ["SQBasics", "SQLoopback", "OAuthSandbox", "TestSupport", "LoopbackSupport"]),
  tests(
    "Loopback/LoopbackHTTP2Tests",
    ["SQBasics", "SQHTTP2", "SQLoopback", "SQLoopbackHTTP2", "TestSupport", "LoopbackSupport"]),
]

/// Tests that start programs: browsers, servers, compilers, databases, the demo.
let programs: [Target] = [
  tests(
    "Programs/ClientProgramTests",
    [
      "SequencingOAuth", "SequencingOAuthPipes", "transfer-probe", "OAuthSandbox", "SQBasics",
      "SQLoopback", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/StoreTests", exclude: ["Faults"],
    [
      "SequencingOAuth", "SQCrypto", "SQFiles", "SequencingOAuthPostgreSQL",
      "SequencingOAuthSQLite",
      "SequencingOAuthSecretService", "store-probe", "OAuthSandbox", "SQBasics", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/DatabaseTests",
    [
      "SequencingOAuth", "SQCrypto", "SequencingOAuthBackend", "SequencingOAuthPipes",
      "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite",
      "SequencingOAuthSecretService", "store-probe", "OAuthSandbox", "SQBasics", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/GRPCProgramTests", exclude: ["Servers"],
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "SQHTTP2", "SQLoopbackHTTP2", "OAuthSandbox",
      "SQBasics",
      "SQLoopback", "TestSupport", "LoopbackSupport", "ProgramSupport", "GRPCValueSupport",
      "GRPCSupport",
    ]),
  tests(
    "Programs/OAuthSandboxGRPCTests", exclude: ["Peers"],
    [
      "OAuthSandboxGRPC", "OAuthSandbox", "LoopbackSupport", "SequencingOAuthGRPC",
      "SequencingOAuth", "SQBasics",
      "TestSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/PeerTests", exclude: ["Peers"],
    [
      "SequencingOAuth", "OAuthSandbox", "SQLoopback", "SQBasics", "TestSupport", "LoopbackSupport",
      "ProgramSupport",
    ]),
  tests(
    "Programs/CallbackTests",
    [
      "SequencingOAuth", "SequencingOAuthPipes", "OAuthSandbox", "SQBasics", "SQLoopback",
      "TestSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/PodTests", exclude: ["Apps", "fixits"],
    ["SequencingOAuth", "OAuthSandbox", "SQBasics", "SQLoopback", "TestSupport", "ProgramSupport"]),
  tests(
    "Programs/DemoTests",
    [
      "sq-demo", "SequencingOAuth", "SequencingOAuthPipes", "SequencingOAuthSQLite",
      "SequencingOAuthPostgreSQL",
      "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
      "SQBasics", "SQLoopback", "TestSupport", "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/DocumentationTests",
    [
      "SequencingOAuth", "SQBasics", "SequencingOAuthPipes", "SequencingOAuthBackend",
      "SequencingOAuthDiscovery", "SequencingOAuthFoundation", "SequencingOAuthSQLite",
      "SequencingOAuthPostgreSQL", "SequencingOAuthSecretService", "SequencingOAuthGRPC",
      "SequencingOAuthTesting", "OAuthSandbox", "OAuthSandboxGRPC", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/LiveTests", exclude: ["Servers"],
    [
      "sq-demo", "SequencingOAuth", "SequencingOAuthBackend", "SequencingOAuthPipes",
      "SequencingOAuthDiscovery", "SequencingOAuthPostgreSQL", "OAuthSandbox", "SQBasics",
      "SQLoopback", "TestSupport", "LoopbackSupport", "ProgramSupport",
    ]),
]

/// The code that tests share, by tier, and the programs that some tests start.
let helpers: [Target] = [
  support("TestSupport", ["SequencingOAuth", "SQCrypto", "SequencingOAuthPipes", "SQBasics"]),
  support(
    "LoopbackSupport",
    [
      "SequencingOAuth", "SequencingOAuthPipes", "OAuthSandbox", "SQBasics", "SQLoopback",
      "CSQNghttp2", "TestSupport",
    ]),
  support("GRPCValueSupport", ["SequencingOAuthGRPC", "TestSupport"]),
  support(
    "GRPCSupport",
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "SQHTTP2", "SQLoopbackHTTP2", "SQBasics",
      "SQLoopback",
      "TestSupport", "LoopbackSupport", "GRPCValueSupport",
    ]),
  support(
    "ProgramSupport",
    [
      "SequencingOAuth", "SequencingOAuthPipes", "SequencingOAuthBackend",
      "SequencingOAuthDiscovery", "OAuthSandbox",
      "SQBasics", "SQLoopback", "CSQSockets", "TestSupport", "LoopbackSupport",
    ]),
  .executableTarget(
    name: "transfer-probe",
    dependencies: ["SequencingOAuth", "SequencingOAuthPipes", "SQBasics", "SQLoopback"],
    path: "Tests/TransferProbe", swiftSettings: settings),
  .executableTarget(
    name: "store-probe",
    dependencies: [
      "SequencingOAuth", "SQBasics", "SQCrypto", "SQFiles", "SequencingOAuthBackend",
      "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
      "SequencingOAuthSecretService",
    ],
    path: "Tests/StoreProbe", swiftSettings: settings),
  .executableTarget(
    name: "torture",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthSecretService", "OAuthSandbox", "SQBasics", "SQLoopback",
    ],
    path: "Tests/Torture", swiftSettings: settings),
  .target(
    name: "Charts", dependencies: ["SQLibC"], path: "Tests/Charts", swiftSettings: settings),
]

/// The benchmarks, which are built only on request, because no test needs them.
let benchmarks: [Target] = [
  .executableTarget(
    name: "benchmarks",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthBackend", "SequencingOAuthPipes", "SequencingOAuthGRPC",
      "SequencingOAuthSQLite",
      "SequencingOAuthPostgreSQL", "OAuthSandbox", "SQBasics", "SQCrypto", "Charts", "SQLoopback",
      "CSQCrypto",
      "CSQCurl", "CSQPostgreSQL", "CSQSQLite", "CSQSockets",
    ],
    path: "Tests/Benchmarks", exclude: ["Peers"], swiftSettings: settings)
]

/// Returns the named parts with all their dependencies, or everything but the benchmarks for `nil`.
@MainActor func targets(of parts: String?) -> [Target] {
  let all = libraries + values + loopback + programs + helpers
  guard let parts else { return all }
  let lists = [
    "libraries": libraries, "values": values, "loopback": loopback, "programs": programs,
  ]
  var open = parts.split(separator: " ").flatMap { part in
    lists[String(part)]?.map(\.name) ?? [String(part)]
  }
  var needed = Set(open)
  while let name = open.popLast() {
    guard let target = (all + benchmarks).first(where: { $0.name == name }) else {
      fatalError("SQ_PARTS names \(name), which is no target of this package")
    }
    for case .byNameItem(let name, _) in target.dependencies where needed.insert(name).inserted {
      open.append(name)
    }
  }
  return (all + benchmarks).filter { needed.contains($0.name) }
}

let package = Package(
  name: "sequencing-oauth",
  // The oldest system for which Scripts/checks/macos checks the types.
  platforms: [.macOS(.v15)],
  products: parts == nil ? products : [],
  targets: targets(of: parts),
  swiftLanguageModes: [.v6]
)
