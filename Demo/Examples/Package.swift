// swift-tools-version: 6.2
import PackageDescription

// The examples; each is a file or a folder.
//
//   swift run --package-path Demo/Examples delegates
//
// SwiftPM identifies a package by its folder, so the SDK's own folder must not be named "examples"
// too.
let sdk: Target.Dependency = .product(name: "SequencingOAuth", package: "sequencing-oauth")
let backend: Target.Dependency = .product(
  name: "SequencingOAuthBackend", package: "sequencing-oauth")
let discovery: Target.Dependency = .product(
  name: "SequencingOAuthDiscovery", package: "sequencing-oauth")
let sqlite: Target.Dependency = .product(
  name: "SequencingOAuthSQLite", package: "sequencing-oauth")
let sandbox: Target.Dependency = .product(name: "OAuthSandbox", package: "sequencing-oauth")

let package = Package(
  name: "examples",
  dependencies: [.package(name: "sequencing-oauth", path: "../..")],
  targets: [
    .executableTarget(
      name: "delegates", dependencies: [sdk], path: ".", sources: ["Delegates.swift"]),
    .executableTarget(name: "async", dependencies: [sdk], path: ".", sources: ["Async.swift"]),
    .executableTarget(name: "daemon", dependencies: [sdk], path: ".", sources: ["Daemon.swift"]),
    .executableTarget(
      name: "accounts", dependencies: [sdk], path: ".", sources: ["Accounts.swift"]),
    .executableTarget(
      name: "mcp", dependencies: [sdk, discovery], path: ".", sources: ["MCP.swift"]),
    .executableTarget(
      name: "service", dependencies: [sdk, backend], path: ".", sources: ["Service.swift"]),
    .executableTarget(
      name: "web", dependencies: [sdk, backend, sqlite], path: ".", sources: ["Web"]),
    .testTarget(
      name: "SignInTests", dependencies: [sdk, sandbox], path: ".", sources: ["SignInTests.swift"]),
  ],
  swiftLanguageModes: [.v6]
)
