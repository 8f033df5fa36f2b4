import Switchyard
import Testing

@testable import SwitchyardText

/// The query language: what each text means, and what is said of mistakes.
@Suite struct QueryTextTests {
    private static let users = Query(in: "users")

    private static let meanings: [(String, Query)] = [
        ("", users),
        ("where age > 17", users.where("age", .greaterThan, 17)),
        ("where age = 1", users.where("age", .equal, 1)), ("where age == 1.0", users.where("age", .equal, 1.0)),
        ("where a != 1", users.where("a", .notEqual, 1)), ("where a <> 1", users.where("a", .notEqual, 1)),
        ("where a < -2", users.where("a", .lessThan, -2)), ("where a<=2", users.where("a", .lessThanOrEqual, 2)),
        ("where a >= 1e3", users.where("a", .greaterThanOrEqual, 1000.0)),
        ("where city in [\"Ulm\", 'Bern']", users.where("city", .in, ["Ulm", "Bern"])),
        ("where city not in ['Ulm']", users.where("city", .notIn, ["Ulm"])),
        ("where tags includes 'new'", users.where("tags", .arrayContains, "new")),
        ("where tags includes any ['a', 'b']", users.where("tags", .arrayContainsAny, ["a", "b"])),
        ("where a is null", users.where("a", .isNull)), ("where a is not null", users.where("a", .isNotNull)),
        ("where a is nan", users.where("a", .isNaN)), ("where a IS NOT NaN", users.where("a", .isNotNaN)),
        ("where a = null", users.where("a", .isNull)), ("where a = nan", users.where("a", .isNaN)),
        (
            "where a = 1 and b = 2 and c = 3",
            users.where(.all([.field("a", .equal, 1), .field("b", .equal, 2), .field("c", .equal, 3)]))
        ),
        (
            "where a = 1 or b = 2 and c = 3",
            users.where(.any([.field("a", .equal, 1), .all([.field("b", .equal, 2), .field("c", .equal, 3)])]))
        ),
        (
            "where (a = 1 or b = 2) and c = 3",
            users.where(.all([.any([.field("a", .equal, 1), .field("b", .equal, 2)]), .field("c", .equal, 3)]))
        ),
        ("where address.city = 'Ulm'", users.where("address.city", .equal, "Ulm")),
        ("where `first name`.`x.y` = 1", users.where("`first name`.`x.y`", .equal, 1)),
        ("where first-name = 1", users.where("`first-name`", .equal, 1)),
        ("where größe = 1", users.where("`größe`", .equal, 1)),
        ("where order = 1 order by limit limit 3", users.where("order", .equal, 1).ordered(by: "limit").limited(to: 3)),
        ("where __name__ > 'm'", users.where(.documentID, .greaterThan, "m")),
        ("where a = true and b = false", users.where(.all([.field("a", .equal, true), .field("b", .equal, false)]))),
        ("where a = infinity", users.where("a", .equal, Double.infinity)),
        ("where a = -infinity", users.where("a", .equal, -Double.infinity)),
        (#"where a = "\u00e9\n\"\ud83d\ude00""#, users.where("a", .equal, "é\n\"😀")),
        (#"where a = 'it\'s'"#, users.where("a", .equal, "it's")),
        (
            "where a = timestamp '2026-05-01T09:41:00.5Z'",
            users.where("a", .equal, Timestamp(clampingSeconds: 1_777_628_460, nanoseconds: 500_000_000))
        ),
        (
            "where a >= timestamp '2026-05-01'",
            users.where("a", .greaterThanOrEqual, Timestamp(clampingSeconds: 1_777_593_600, nanoseconds: 0))
        ),
        ("where a = reference 'users/b'", users.where("a", .equal, StoragePath("users", "b"))),
        (
            "where a = geoPoint(48.4, 10)",
            // A place on Earth.
            users.where("a", .equal, try! GeoPoint(latitude: 48.4, longitude: 10))
        ),
        ("where a = vector [1, 0.5]", users.where("a", .equal, .vector([1, 0.5]))),
        ("where a = {b: 1, 'c d': [2, null]}", users.where("a", .equal, .map(["b": 1, "c d": [2, .null]]))),
        ("order by name", users.ordered(by: "name")),
        ("order by name desc, age asc, x", users.ordered(by: "name", .descending).ordered(by: "age").ordered(by: "x")),
        ("limit 20", users.limited(to: 20)),
        ("order by a limit last 5", users.ordered(by: "a").limited(toLast: 5)),
        ("offset 3", users.skipping(3)),
        ("order by a start at 1 end before 9", users.ordered(by: "a").starting(at: 1).ending(before: 9)),
        (
            "order by a, b start after 1, 'x' end at 2",
            users.ordered(by: "a").ordered(by: "b").starting(after: 1, "x").ending(at: 2)
        ),
        ("select name, address.city", users.selecting("name", "address.city")),
        ("limit 2 where a = 1", users.where("a", .equal, 1).limited(to: 2)),
    ]

    @Test(arguments: meanings.indices)
    func `A text means the query that is built step by step`(_ index: Int) throws {
        let (text, query) = Self.meanings[index]
        #expect(try QueryText(parsing: text).applied(to: Self.users) == query, "\(text)")
        #expect(query.mistake == nil)
    }

    /// Each with the part of the text below which the carets stand, and words of the message.
    private static let mistakes: [(String, String, String)] = [
        ("where", "", "expected a field, found the end"),
        ("where age", "", "expected a comparison after “age”"),
        ("where age >", "", "expected a value, found the end"),
        ("where age > and name = 1", "and", "“and” is no value"),
        ("where city = Ulm", "Ulm", "enclose text in quotes"),
        ("where done = ture", "ture", "Did you mean “true”?"),
        ("where city = 'Ulm", "'Ulm", "not closed by a quote"),
        ("where `a = 1", "`a = 1", "back quote is not closed"),
        ("where age > 17 adn name = 1", "adn", "Did you mean “and”?"),
        ("were age > 17", "were", "Did you mean “where”?"),
        ("age > 17", "age", "conditions begin with “where”"),
        ("where a includs 'x'", "includs", "Did you mean “includes”?"),
        ("where a in 'x'", "'x'", "“in” takes a list"),
        ("where a not 'x'", "'x'", "expected “in” after “not”"),
        ("where not a = 1", "not", "“not” stands after a field"),
        ("where (a = 1", "", "expected “)”"),
        ("where a = 1)", ")", "expected “and”, “or”"),
        ("where a = [1, 2", "", "expected “]”"),
        ("where a = 12x", "12x", "is no number"),
        ("where a = 99999999999999999999", "99999999999999999999", "64 bits"),
        ("where a..b = 1", "a..b", "empty name"),
        ("where a is 5", "5", "expected “null” or “nan”"),
        ("where 'a' = 1", "'a'", "enclose a field's name in back quotes"),
        ("where a = timestamp 'yesterday'", "'yesterday'", "takes a time such as"),
        ("where a = geoPoint(100, 10)", "(100, 10)", "latitude in −90 … 90"),
        ("where a = vector ['x']", "['x']", "a list of numbers"),
        ("where a = 1 where b = 2", "where", "second “where”"),
        ("order name", "name", "expected “by”"),
        ("limit many", "many", "takes a whole number"),
        ("limit 0", "limit 0", "between 1 and"),
        ("limit last 3", "limit last 3", "Add an order"),
        ("start from 1", "from", "expected “at” or “after”"),
        ("order by a start at 1, 2, 3", "start at 1, 2, 3", "one value for each order"),
        ("order by a, a", "a", "already ordered by “a”"),
        ("where a = 1 and b > null and c = 2", "b > null", "only be tested for equality"),
        ("where a in []", "a in []", "1 to 30 values"),
        ("where a = 1 ; drop", ";", "means nothing here"),
        (#"where a = "\x""#, #"\x"#, "no escape of this kind"),
        ("select 5", "5", "expected a field"),
    ]

    @Test(arguments: mistakes.indices)
    func `A mistake is explained, and its place is marked`(_ index: Int) throws {
        let (text, marked, words) = Self.mistakes[index]
        let mistake = try #require(throws: TextMistake.self) {
            _ = try QueryText(parsing: text).applied(to: Self.users)
        }
        #expect(mistake.message.contains(words), "\(mistake)")
        #expect(String(decoding: Array(text.utf8)[mistake.range], as: UTF8.self) == marked, "\(mistake)")
        let lines = mistake.shown.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 2 && lines[1].allSatisfy { $0 == " " || $0 == "^" } && lines[1].contains("^"))
    }

    @Test func `Carets stand below the place, in its line, one for each character`() {
        let mistake = TextMistake("no", at: 19..<22, in: "where größe = 1\n and x\tyz")
        #expect(mistake.shown == " and x yz\n ^^^")
        let umlaut = TextMistake("no", at: 6..<13, in: "where größe = 1")
        #expect(umlaut.shown == "where größe = 1\n      ^^^^^")
    }

    @Test func `A deep text is a mistake, not the end of the process`() {
        let deep = "where " + String(repeating: "(", count: 100_000) + "a = 1"
        #expect(throws: TextMistake.self) { _ = try QueryText(parsing: deep) }
        let list = "where a = " + String(repeating: "[", count: 100_000)
        #expect(throws: TextMistake.self) { _ = try QueryText(parsing: list) }
    }
}
