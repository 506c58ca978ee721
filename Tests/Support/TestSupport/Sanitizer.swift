import Foundation

/// The sanitizer that the tests run under, `thread` or `address`, or `nil`.
package let sanitizer = ProcessInfo.processInfo.environment["SANITIZE"]

/// Whether the tests run under a sanitizer, which has memory and libraries of its own.
package let isSanitized = sanitizer != nil
