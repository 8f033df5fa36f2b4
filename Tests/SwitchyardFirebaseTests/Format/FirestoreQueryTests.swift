import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreQueryTests {
    private func text(_ query: Query, for purpose: FirestoreQuery.Purpose = .read) -> String {
        canonical(FirestoreQuery(query, in: database, for: purpose).structuredQuery)
    }

    @Test func `The whole order is written out`() throws {
        let query = Query(in: "c").where("b", .greaterThan, 1).where("a", .notEqual, "x").ordered(
            by: "z", .descending)
        #expect(
            text(query)
                == #"{"from":[{"collectionId":"c"}],"orderBy":[{"direction":"DESCENDING","field":{"fieldPath":"z"}},{"direction":"DESCENDING","field":{"fieldPath":"a"}},{"direction":"DESCENDING","field":{"fieldPath":"b"}},{"direction":"DESCENDING","field":{"fieldPath":"__name__"}}],"where":{"compositeFilter":{"filters":[{"fieldFilter":{"field":{"fieldPath":"b"},"op":"GREATER_THAN","value":{"integerValue":"1"}}},{"fieldFilter":{"field":{"fieldPath":"a"},"op":"NOT_EQUAL","value":{"stringValue":"x"}}}],"op":"AND"}}}"#
        )
    }

    @Test func `A limit to the last is the mirrored query`() throws {
        let query = Query(in: "c").ordered(by: "n").starting(at: 1).ending(before: 9).limited(toLast: 3)
        let sent = FirestoreQuery(query, in: database)
        #expect(sent.isReversed)
        #expect(
            canonical(sent.structuredQuery)
                == #"{"endAt":{"values":[{"integerValue":"1"}]},"from":[{"collectionId":"c"}],"limit":3,"orderBy":[{"direction":"DESCENDING","field":{"fieldPath":"n"}},{"direction":"DESCENDING","field":{"fieldPath":"__name__"}}],"startAt":{"values":[{"integerValue":"9"}]}}"#
        )
    }

    @Test func `A target asks for whole documents and for those that the offset skips`() throws {
        let query = Query(in: "c").selecting("a").skipping(5).limited(to: 2)
        #expect(
            text(query, for: .target)
                == #"{"from":[{"collectionId":"c"}],"limit":7,"orderBy":[{"direction":"ASCENDING","field":{"fieldPath":"__name__"}}]}"#
        )
        #expect(
            text(query)
                == #"{"from":[{"collectionId":"c"}],"limit":2,"offset":5,"orderBy":[{"direction":"ASCENDING","field":{"fieldPath":"__name__"}}],"select":{"fields":[{"fieldPath":"a"}]}}"#
        )
    }

    @Test func `An aggregation is sent with no more orders than it needs`() throws {
        let query = Query(in: "c").where("a", .greaterThan, 1)
        let body = FirestoreQuery(query, in: database, for: .aggregation)
            .aggregationBody([.count, .sum("n"), .average("m.x")])
        #expect(
            canonical(body)
                == #"{"structuredAggregationQuery":{"aggregations":[{"alias":"aggregate_0","count":{}},{"alias":"aggregate_1","sum":{"field":{"fieldPath":"n"}}},{"alias":"aggregate_2","avg":{"field":{"fieldPath":"m.x"}}}],"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":{"fieldPath":"a"},"op":"GREATER_THAN","value":{"integerValue":"1"}}}}}}"#
        )
        let first = Query(in: "c").where("a", .greaterThan, 1).limited(to: 3)
        #expect(text(first, for: .aggregation).contains("__name__"))
    }

    @Test func `The parent is the document that holds the collection`() throws {
        #expect(FirestoreQuery(Query(in: "a/b/c"), in: database).parent == root + "/a/b")
        #expect(FirestoreQuery(Query(in: "c"), in: database).parent == root)
        let group = FirestoreQuery(Query(group: "c"), in: database)
        #expect(group.parent == root)
        #expect(group.structuredQuery["from"]?[0]?["allDescendants"] == true)
    }

    @Test(arguments: [
        (Query(group: "c", under: "a/b"), "a/b", "a/b\0"),
        (Query(group: "c", under: "a/__id9__").where("n", .greaterThan, 1), "a/__id9__", "a/__id10__"),
        (Query(group: "c", under: "a/ä").where("n", .equal, 1).where("m", .isNull), "a/ä", "a/ä\0"),
    ])
    func `A group below a document is a group at the root within a range of names`(
        _ query: Query, _ lower: String, _ upper: String
    ) {
        let group = FirestoreQuery(query, in: database)
        #expect(group.parent == root)
        let filters = group.structuredQuery["where"]?["compositeFilter"]?["filters"]?.array ?? []
        let bounds = filters.prefix(2).map { $0["fieldFilter"] }
        #expect(bounds.map { $0?["op"]?.string } == ["GREATER_THAN", "LESS_THAN"])
        #expect(bounds.map { $0?["field"]?["fieldPath"]?.string } == ["__name__", "__name__"])
        #expect(
            bounds.map { $0?["value"]?["referenceValue"]?.string } == [root + "/" + lower, root + "/" + upper])
        #expect(filters.allSatisfy { $0["compositeFilter"] == nil }, "conditions stand side by side")
    }

    static let queries: [Query] = [
        Query(in: "c"),
        Query(in: "a/b/c"),
        Query(group: "c"),
        Query(group: "c").ordered(by: .documentID, .descending),
        Query(in: "c").where("n", .greaterThanOrEqual, 1).ordered(by: "m").limited(to: 5),
        Query(in: "c").where("n", .greaterThanOrEqual, 1).limited(to: 5),
        Query(in: "c").where(
            .any([.field("a", .equal, 1), .all([.field("b", .isNotNull), .field("c", .isNaN)])])),
        Query(in: "c").where("a", .in, [1, 2]).where("b", .arrayContains, .null),
        Query(in: "c").where("a", .notIn, ["x"]).skipping(3),
        Query(in: "c").where("a", .arrayContainsAny, ["x"]).selecting("a", "b.c"),
        Query(in: "c").where(.documentID, .in, [StoragePath("c/x"), "c/y"]),
        Query(in: "c").ordered(by: "a", .descending).starting(after: 1, "d1").ending(at: 0),
        Query(in: "c").where("a", .lessThan, 3).starting(at: 1, "d1"),
    ]

    @Test(arguments: queries.indices) func `Queries survive the way there and back`(index: Int) throws {
        let query = FirestoreQueryTests.queries[index]
        let sent = FirestoreQuery(query, in: database)
        let back = try Query(firestore: sent.structuredQuery, parent: sent.parent, in: database)
        #expect(back == query)
        #expect(back.effectiveOrders == query.effectiveOrders)
    }

    @Test func `The samples of queries are all there`() { #expect(FirestoreQueryTests.queries.count == 13) }

    @Test(arguments: [
        "[]", "{}", #"{"from":[]}"#, #"{"from":[{}]}"#, #"{"from":[{"collectionId":"a/b"}]}"#,
        #"{"from":[{"collectionId":"c"}],"where":{}}"#, #"{"from":[{"collectionId":"c"}],"limit":-1}"#,
        #"{"from":[{"collectionId":"c"}],"orderBy":[{"field":{"fieldPath":"a"},"direction":"UP"}]}"#,
        #"{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":{"fieldPath":"a"},"op":"LIKE","value":{"nullValue":null}}}}"#,
        #"{"from":[{"collectionId":"c"}],"where":{"compositeFilter":{"op":"AND","filters":[]}}}"#,
        #"{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":{"fieldPath":"a"},"op":"IN","value":{"arrayValue":{}}}}}"#,
        #"{"from":[{"collectionId":"c"}],"startAt":{"values":[{"integerValue":"1"}]}}"#,
        #"{"from":[{"collectionId":"c"}],"findNearest":{}}"#,
        #"{"from":[{"collectionId":"c"}],"orderBy":[{"field":{"fieldPath":"n"}}],"startAt":{"values":[{"integerValue":"1"},{"integerValue":"2"}]}}"#,
        #"{"from":[{"collectionId":"c"}],"orderBy":[{"field":{"fieldPath":"__name__"}},{"field":{"fieldPath":"n"}}]}"#,
        #"{"from":[{"collectionId":"c"}],"orderBy":[{"field":{"fieldPath":"a b"}}]}"#,
        #"{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":{"fieldPath":"__name__"},"op":"EQUAL","value":{"stringValue":"d"}}}}"#,
    ])
    func `What is no query is refused`(text: String) {
        #expect(throws: FirestoreFormatError.self) { try Query(firestore: json(text), parent: root, in: database) }
    }
}
