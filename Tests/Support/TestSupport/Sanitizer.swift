import Foundation

/// Whether the tests run under a sanitizer, which has memory and libraries of its own.
package let isSanitized = ProcessInfo.processInfo.environment["SANITIZE"] != nil
