import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreListenTests {
    private func text(_ request: FirestoreListenRequest) -> String { canonical(request.firestore(in: database)) }

    @Test func `Requests have exactly what belongs to them`() throws {
        #expect(text(.remove(id: 4)) == #"{"database":"projects/p/databases/d","removeTarget":4}"#)
        #expect(
            text(.add(.document("c/x"), id: 1, purpose: .limboDocument))
                == #"{"addTarget":{"documents":{"documents":["projects/p/databases/d/documents/c/x"]},"targetId":1},"database":"projects/p/databases/d","labels":{"goog-listen-tags":"limbo-document"}}"#
        )
        #expect(
            text(.add(.query(Query(in: "c")), id: 2, from: .token([1, 2]), expectedCount: 3))
                == #"{"addTarget":{"expectedCount":3,"query":{"parent":"projects/p/databases/d/documents","structuredQuery":{"from":[{"collectionId":"c"}],"orderBy":[{"direction":"ASCENDING","field":{"fieldPath":"__name__"}}]}},"resumeToken":"AQI=","targetId":2},"database":"projects/p/databases/d"}"#
        )
        // Without a resumption there is nothing that could be counted.
        #expect(!text(.add(.query(Query(in: "c")), id: 2, expectedCount: 3)).contains("expectedCount"))
    }

    static let responses: [(FirestoreListenResponse, String)] = [
        (
            .targetChange(.init(.add, targetIDs: [2])),
            #"{"targetChange":{"targetChangeType":"ADD","targetIds":[2]}}"#
        ),
        (
            .targetChange(.init(.noChange, resumeToken: [1], readTime: Timestamp(microseconds: 0))),
            #"{"targetChange":{"resumeToken":"AQ==","readTime":"1970-01-01T00:00:00Z"}}"#
        ),
        (
            .targetChange(
                .init(.remove, targetIDs: [4], cause: FirestoreFailure(.permissionDenied, "\nfalse for 'get' @ L4"))),
            #"{"targetChange":{"targetChangeType":"REMOVE","targetIds":[4],"cause":{"code":7,"message":"\nfalse for 'get' @ L4"}}}"#
        ),
        (
            .documentChange(
                .existing("c/x", ["n": 1], updateTime: Timestamp(microseconds: 1)), targetIDs: [2],
                removedTargetIDs: [4]),
            #"{"documentChange":{"document":{"name":"projects/p/databases/d/documents/c/x","fields":{"n":{"integerValue":"1"}},"updateTime":"1970-01-01T00:00:00.000001Z"},"targetIds":[2],"removedTargetIds":[4]}}"#
        ),
        (
            .documentDelete("c/x", readTime: Timestamp(microseconds: 1), removedTargetIDs: [2]),
            #"{"documentDelete":{"document":"projects/p/databases/d/documents/c/x","readTime":"1970-01-01T00:00:00.000001Z","removedTargetIds":[2]}}"#
        ),
        (
            .documentRemove("c/x", readTime: nil, removedTargetIDs: [2]),
            #"{"documentRemove":{"document":"projects/p/databases/d/documents/c/x","removedTargetIds":[2]}}"#
        ),
        (.existenceFilter(.init(targetID: 2, count: 0)), #"{"filter":{"targetId":2}}"#),
        (
            .existenceFilter(
                .init(targetID: 2, count: 3, unchangedNames: .init(bitmap: [0x9B, 0x01], padding: 5, hashCount: 8))),
            #"{"filter":{"targetId":2,"count":3,"unchangedNames":{"bits":{"bitmap":"mwE=","padding":5},"hashCount":8}}}"#
        ),
    ]

    @Test(arguments: responses.indices) func `Messages are read and written alike`(index: Int) throws {
        let (response, text) = FirestoreListenTests.responses[index]
        #expect(try FirestoreListenResponse(firestore: json(text), in: database) == response)
        #expect(canonical(response.firestore(in: database)) == canonical(try json(text)))
    }

    @Test(arguments: [
        #"{"filter":{"targetId":2,"count":1,"unchangedNames":{"hashCount":8}}}"#,
        #"{"filter":{"targetId":2,"count":1,"unchangedNames":{"bits":{"bitmap":"r%$%"},"hashCount":8}}}"#,
    ])
    func `A digest that cannot be used counts as none`(text: String) throws {
        #expect(
            try FirestoreListenResponse(firestore: json(text), in: database)
                == .existenceFilter(.init(targetID: 2, count: 1)))
    }

    @Test(arguments: [
        "{}", "[]", #"{"targetChange":{"targetChangeType":"UPSIDE_DOWN"}}"#, #"{"documentChange":{}}"#,
        #"{"documentDelete":{}}"#, #"{"targetChange":{"targetIds":["2"]}}"#, #"{"targetChange":{"resumeToken":"*"}}"#,
    ])
    func `What is no message is refused`(text: String) {
        #expect(throws: FirestoreFormatError.self) { try FirestoreListenResponse(firestore: json(text), in: database) }
    }
}
