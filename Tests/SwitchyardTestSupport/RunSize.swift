import Foundation

/// How much a run does of what is long: random schedules, sweeps over every byte, and the checks of one more arrangement of what
/// others check whole.
///
/// A run does a part of it, so that it is over soon; with `SWITCHYARD_FULL=1` it does everything. `.ci/run` does everything.
package enum RunSize {
    package static let isFull = ProcessInfo.processInfo.environment["SWITCHYARD_FULL"] == "1"

    /// Everything in a full run, otherwise a part.
    package static func full<Value>(_ all: Value, part: Value) -> Value { isFull ? all : part }

    /// Every `step`th of a list in a run that is not full.
    ///
    /// - Parameter name: Which of them, so that lists of the same things do different parts.
    package static func part<Element>(of all: [Element], every step: Int, for name: String = "") -> [Element] {
        guard !isFull, step > 1 else { return all }
        let first = name.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % step
        return all.indices.filter { $0 % step == first }.map { all[$0] }
    }
}
