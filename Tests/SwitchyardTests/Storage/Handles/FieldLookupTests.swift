import Foundation
import Switchyard
import Testing

@Suite struct FieldLookupTests {
    enum State: String, Codable, Sendable { case open = "OPEN", late = "LATE" }
    enum Level: Int, Codable, Sendable, CaseIterable { case low = 10, high = 20 }
    enum Plain: Codable, Sendable { case one, two }

    struct Address: Codable, Sendable {
        var city: String
        var zip: Int
    }

    struct Order: Codable, Sendable {
        @DocumentID var id: String?
        var title: String
        var done = false
        var urgent: Bool
        var count: Int
        var small: UInt8
        var price: Double
        var state: State
        var level: Level
        var plain: Plain
        var maybe: State?
        var due: Date
        var address: Address
        var spare: Address?
        var tags: [String]
        var notes: [String: String]
        var link: URL
        var key: UUID
        var owner: StoragePath
        var place: GeoPoint
        var children: [Order]?
        @ServerTimestamp var created: Date?
        @ServerTimestamp var changed: Timestamp?

        enum CodingKeys: String, CodingKey {
            case id, title, done, urgent, count, small, price, state, level, plain, maybe, due, address, spare, tags
            case notes, link, key, owner, place, children, created
            case changed = "lastChange"
        }

        var isOpen: Bool { !done }
        var either: Bool { done || urgent }
        var heading: String { title }
    }

    static let orders = ToyStorage().collection("orders", of: Order.self)

    static let properties: [(any PartialKeyPath<Order> & Sendable, String)] = [
        (\.id, "__name__"), (\.title, "title"), (\.done, "done"), (\.urgent, "urgent"), (\.count, "count"),
        (\.small, "small"), (\.price, "price"), (\.state, "state"), (\.level, "level"), (\.plain, "plain"),
        (\.maybe, "maybe"), (\.due, "due"), (\.address, "address"), (\.address.city, "address.city"),
        (\.address.zip, "address.zip"), (\.spare, "spare"), (\.tags, "tags"), (\.notes, "notes"), (\.link, "link"),
        (\.key, "key"), (\.owner, "owner"), (\.place, "place"), (\.created, "created"), (\.changed, "lastChange"),
    ]

    @Test(arguments: properties.indices)
    func `A property stands for the field of its coding key`(index: Int) throws {
        let (property, field) = Self.properties[index]
        let query = Self.orders.ordered(by: property).query
        #expect(query.mistake == nil, "\(query.mistake?.message ?? "")")
        #expect(query.orders.map(\.field) == [FieldPath(stringLiteral: field)])
    }

    @Test func `A property that stands for no field is a mistake of the query, with what to do`() async throws {
        let computed: [any PartialKeyPath<Order> & Sendable] = [
            \.isOpen, \.either, \.heading, \.tags.count, \.spare?.city,
        ]
        for property in computed {
            let query = Self.orders.ordered(by: property).limited(to: 5)
            #expect(query.query.mistake?.code == .invalidArgument)
            #expect(query.query.mistake?.message.contains("FieldNaming") == true)
            #expect(query.query.mistake?.message.contains("0x") == false, "\(query.query.mistake?.message ?? "")")
            let error = await #expect(throws: StorageError.self) { try await query.documents() }
            #expect(error?.message == query.query.mistake?.message)
        }
        await #expect(throws: StorageError.self) {
            try await Self.orders.document("a").update(\.isOpen, to: true)
        }
    }

    @Test func `Operands are written as the type writes them`() throws {
        let query = Self.orders.where(\.state, .equal, .late).where(\.level, .in, [.low, .high])
            .where(\.tags, .arrayContains, "x").where(\.created, .greaterThan, Date(timeIntervalSince1970: 1)).query
        #expect(query.mistake == nil)
        #expect(
            query.filter?.conditions == [
                .comparison("state", .equal, "LATE"), .comparison("level", .in, [10, 20]),
                .comparison("tags", .arrayContains, "x"),
                .comparison("created", .greaterThan, .timestamp(Timestamp(microseconds: 1_000_000))),
            ])
        #expect(Self.orders.where(\.maybe, .equal, nil).query.filter == .test("maybe", .isNull))
        #expect(Self.orders.where(\.done, .isNotNull).query.filter == .test("done", .isNotNull))
    }

    struct Renamed: Codable, Sendable {
        var lastSeenAt: Int
        var inner: Inner
        struct Inner: Codable, Sendable { var someName: Bool }
    }

    @Test func `The coder's own names count`() {
        let all = ToyStorage().collection("r", of: Renamed.self, by: DocumentCoder(keys: .snakeCase))
        #expect(all.ordered(by: \.lastSeenAt).query.orders.map(\.field) == ["last_seen_at"])
        #expect(all.where(\.inner.someName, .equal, true).query.filter == .comparison("inner.some_name", .equal, true))
    }

    /// Takes no made-up address, and says its fields itself.
    struct Member: Codable, Sendable, FieldNaming {
        var mail: Mail
        var age: Int
        struct Mail: Codable, Sendable {
            var text: String
            init(from decoder: any Decoder) throws {
                text = try decoder.singleValueContainer().decode(String.self)
                guard text.contains("@") else { throw StorageError(.codingFailed, "That is no address.") }
            }
        }
        static func field(of property: PartialKeyPath<Member>) -> FieldPath? { property == \.age ? "age" : nil }
    }

    @Test func `A type that refuses made-up values names its fields, or says to do so`() {
        let members = ToyStorage().collection("m", of: Member.self)
        #expect(members.ordered(by: \.age).query.orders.map(\.field) == ["age"])
        #expect(members.ordered(by: \.mail).query.mistake?.message.contains("made-up values") == true)
    }

    struct Temperature: DocumentConvertible, FieldNaming {
        var degrees: Double
        init(document: DocumentSnapshot) throws(StorageError) {
            degrees = try document.required("degrees", \.doubleValue)
        }
        func documentFields() -> WriteFields { ["degrees": .of(degrees)] }
        static func field(of property: PartialKeyPath<Temperature>) -> FieldPath? { "degrees" }
    }

    @Test func `A type with its own conversion names its fields as well`() {
        let all = ToyStorage().collection("t", of: Temperature.self)
        #expect(
            all.where(\.degrees, .greaterThan, 20).query.filter == .comparison("degrees", .greaterThan, .double(20)))
    }
}
