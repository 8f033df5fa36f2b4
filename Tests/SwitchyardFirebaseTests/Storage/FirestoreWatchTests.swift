import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync
import Testing

@testable import SwitchyardFirebase

/// Messages that Firestore sends and its emulators do not.
@Suite struct FirestoreWatchTests {
    private let database = FirestoreDatabase(project: "project-1", database: "database-1")

    private func event(_ text: String) throws -> WatchEvent {
        try WatchEvent(try JSON(parsing: text), in: database)
    }

    @Test func `A document that left the result is not said to be deleted`() throws {
        let decoded = try event(
            #"{"documentRemove":{"document":"projects/project-1/databases/database-1/documents/a/b","removedTargetIds":[2]}}"#
        )
        guard case .left("a/b", [2]) = decoded else {
            Issue.record("unexpected: \(decoded)")
            return
        }
    }

    @Test(arguments: [
        (#""targetIds":[2],"#, false), (#""targetIds":[],"#, true), ("", true),
    ])
    func `Only what is said of all targets is a moment of the whole`(_ targets: String, _ isSnapshot: Bool) throws {
        let decoded = try event(
            #"{"targetChange":{\#(targets)"readTime":"2026-11-21T01:54:55Z","resumeToken":"AQI="}}"#)
        switch decoded {
        case .snapshot(_, [1, 2]): #expect(isSnapshot)
        case .token([2], [1, 2]): #expect(!isSnapshot)
        default: Issue.record("unexpected: \(decoded)")
        }
    }

    @Test func `A filter is asked for whole names, of this database`() throws {
        let decoded = try event(
            #"{"filter":{"targetId":2,"count":3,"unchangedNames":{"bits":{"bitmap":"mwE=","padding":5},"hashCount":8}}}"#
        )
        guard case .filter(2, 3, let filter?) = decoded else {
            Issue.record("unexpected: \(decoded)")
            return
        }
        #expect(filter.mightContain("coll/doc0"))
        #expect(!filter.mightContain("coll/doc1"))
    }
}
