import Foundation

/// How long tests that feed on random input run.
package enum RandomRun {
    /// What `SWITCHYARD_RANDOM` says: so many times as long as a full run. Every round has a seed of its own, so that a longer
    /// run sees more and not the same again.
    private static let factor = ProcessInfo.processInfo.environment["SWITCHYARD_RANDOM"].flatMap { Int($0) }

    /// Whether it has fewer rounds than a full run.
    package static var isPart: Bool { factor == nil && !RunSize.isFull }

    /// - Parameter usual: As many as a full run has; without being asked for more, a run has a fifth of them.
    package static func rounds(_ usual: Int) -> Int {
        if let factor { return usual * max(1, factor) }
        return RunSize.full(usual, part: max(1, usual / 5))
    }
}
