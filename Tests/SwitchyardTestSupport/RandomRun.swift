import Foundation

/// How long tests that feed on random input run.
package enum RandomRun {
    /// What `SWITCHYARD_RANDOM` says: so many times as long as usual. Every round has a seed of its own, so that a longer
    /// run sees more and not the same again.
    package static let factor = max(
        1, ProcessInfo.processInfo.environment["SWITCHYARD_RANDOM"].flatMap { Int($0) } ?? 1)

    package static func rounds(_ usual: Int) -> Int { usual * factor }
}
