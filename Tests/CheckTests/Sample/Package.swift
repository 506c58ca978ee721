// swift-tools-version: 6.2
import PackageDescription

let package = Package(name: "sample", targets: [.testTarget(name: "SampleTests")])
