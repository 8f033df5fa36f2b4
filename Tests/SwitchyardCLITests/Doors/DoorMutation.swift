import SwitchyardBytes
import SwitchyardTestSupport

/// What a careless or hostile client makes of a sensible request.
enum DoorMutation {
    /// What may stand where a number is expected: the ends of all integers, what no integer is, and what is no number.
    static let extremes = [
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "9223372036854775806",
        "18446744073709551615", "18446744073709551616", "4294967295", "4294967296", "2147483647", "2147483648",
        "-2147483648",
        "-2147483649", "65536", "-1", "0", "-0", "1", "00", "1e400", "-1e400", "1e308", "1e-400", "1e18", "0.5", "-0.5",
        "9007199254740993", "999999999999999999999999999999999999999", "253402300800", "-62135596801", "NaN",
        "Infinity", "0x7fffffffffffffff",
        "٣", "", " ", "null", "true", "\"\"", "\"9223372036854775807\"", "[]", "{}", "1,1", "1-", "%00",
    ]

    /// With one to three of the changes below.
    static func apply(to request: DoorRequest, _ random: inout SeededGenerator) -> [Change] {
        (0..<random.int(1..<4)).map { _ in random.pick(Change.allCases) }
    }

    enum Change: CaseIterable, Sendable {
        case number, numbers, value, member, damage, bytes, long, deep, header, method, percent, cut, repeated
    }

    static func change(_ request: DoorRequest, by change: Change, _ random: inout SeededGenerator) -> DoorRequest {
        let text = request.text
        switch change {
        case .number:
            let numbers = request.numbers
            guard !numbers.isEmpty else { return request }
            return request.replacing(random.pick(numbers), by: random.pick(extremes))
        case .numbers:
            return request.numbers.reversed().reduce(request) { $0.replacing($1, by: random.pick(extremes)) }
        case .value: return inBody(request) { body in value(in: body, &random) }
        case .member:
            return inBody(request) { body in
                guard let object = (try? JSON(parsing: body))?.object,
                    let name = object.keys.shuffled(using: &random).first
                else { return body }
                var changed = object
                changed[name] = random.chance(50) ? nil : json(&random, depth: 0)
                return JSON.object(changed).text()
            }
        case .damage:
            return DoorRequest(text: String(decoding: Damage.apply(to: Array(text.utf8), &random), as: UTF8.self))
        case .bytes:
            let count = random.int(0..<random.pick([8, 64, 1024]))
            return inBody(request) { _ in
                String(
                    decoding: (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }, as: UTF8.self)
            }
        case .long:
            return at(
                request, random.pick(["a", "%41", "é", "0", "/", ".", "\\u0000", "🜁"]).repeated(random.int(1..<9000)),
                &random)
        case .deep:
            let (open, close) = random.pick([
                ("[", "]"), ("{\"a\":", "}"), ("not.and(", ")"), ("and(", ")"), ("(", ")"), ("a(", ")"), ("!(", ")"),
                ("{", "}"),
            ])
            let depth = random.pick([20, 200, 2000, 10_000])
            let nest = open.repeated(depth) + "1" + close.repeated(depth)
            return random.chance(50) ? inBody(request) { _ in nest } : at(request, nest, &random)
        case .header:
            let field =
                random.pick(fields)
                + random.pick(extremes + ["bytes=0-9223372036854775807", "*", "a\tb", "ÿ", ";", ","])
            return DoorRequest(text: text.replacingFirst("\n", by: "\n\(field)\n"))
        case .method:
            let line = text.prefix { $0 != " " }
            return DoorRequest(
                text: random.pick(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "X"])
                    + text.dropFirst(line.count))
        case .percent:
            return at(
                request,
                random.pick([
                    "%", "%0", "%ZZ", "%00", "%ff", "%C3%28", "%2F", "%25", "+", "..%2f", "?", "&", "=", "#", ":",
                ]), &random)
        case .cut: return DoorRequest(text: String(text.prefix(random.int(0..<max(text.count, 1)))))
        case .repeated:
            let start = text.index(text.startIndex, offsetBy: random.int(0..<max(text.count, 1)))
            let piece = text[start...].prefix(random.int(1..<40))
            return DoorRequest(
                text: text[..<start] + String(repeating: String(piece), count: random.int(2..<20)) + text[start...])
        }
    }

    /// Fields that hold numbers, dates or choices.
    private static let fields = [
        "Range: ", "Range-Unit: ", "If-Range: ", "If-None-Match: ", "If-Modified-Since: ", "Prefer: max-affected=",
        "Prefer: count=",
        "Content-Length: ", "Transfer-Encoding: ", "Expect: ", "Content-Type: ", "Accept: ", "Accept-Profile: ",
        "Authorization: ",
        "apikey: ", "X-Goog-Upload-Offset: ", "X-Goog-Upload-Command: ", "X-Goog-Upload-Header-Content-Length: ",
        "Upload-Length: ",
        "Upload-Offset: ", "Upload-Metadata: ", "Tus-Resumable: ", "x-upsert: ", "x-metadata: ", "Cookie: ",
        "Connection: ",
        "Sec-WebSocket-Version: ", "X-Supabase-Api-Version: ", "x-http-method-override: ", "Host: ", "Origin: ",
    ]

    // MARK: Parts

    private static func inBody(_ request: DoorRequest, _ change: (String) -> String) -> DoorRequest {
        guard let end = request.text.firstRange(of: "\n\n") else {
            return DoorRequest(text: request.text + "\n\n" + change(""))
        }
        return DoorRequest(text: request.text[..<end.upperBound] + change(String(request.text[end.upperBound...])))
    }

    /// Inserted at some place.
    private static func at(_ request: DoorRequest, _ text: String, _ random: inout SeededGenerator) -> DoorRequest {
        let place = request.text.index(request.text.startIndex, offsetBy: random.int(0..<(request.text.count + 1)))
        return DoorRequest(text: request.text[..<place] + text + request.text[place...])
    }

    // MARK: JSON

    /// With one of its values, at any depth, replaced.
    private static func value(in body: String, _ random: inout SeededGenerator) -> String {
        guard let json = try? JSON(parsing: body) else { return json(&random, depth: 0).text() }
        var left = random.int(0..<max(count(json), 1))
        return replaced(json, &left, &random).text()
    }

    private static func count(_ json: JSON) -> Int {
        1 + (json.object?.reduce(0) { $0 + count($1.value) } ?? json.array?.reduce(0) { $0 + count($1) } ?? 0)
    }

    private static func replaced(_ value: JSON, _ left: inout Int, _ random: inout SeededGenerator) -> JSON {
        defer { left -= 1 }
        if left == 0 { return json(&random, depth: 0) }
        if let object = value.object {
            var changed = JSONObject()
            for member in object.members {
                left -= 1
                changed[member.key] = left < 0 ? member.value : replaced(member.value, &left, &random)
            }
            return .object(changed)
        }
        if let array = value.array {
            return .array(
                array.map { element in
                    left -= 1
                    return left < 0 ? element : replaced(element, &left, &random)
                })
        }
        return value
    }

    static func json(_ random: inout SeededGenerator, depth: Int) -> JSON {
        switch random.int(0..<(depth > 3 ? 8 : 10)) {
        case 0: return .null
        case 1: return .bool(random.chance(50))
        case 2:
            return .integer(random.pick([.max, .min, .max - 1, -1, 0, 1, 1 << 53, 1 << 31, 1 << 32, -62_135_596_801]))
        case 3: return .number(random.pick([1e308, -1e308, Double.leastNonzeroMagnitude, 0.1, -0.0, 9.3e18, 1e300]))
        case 4: return .string(random.pick(extremes))
        case 5: return .string(random.pick(texts))
        case 6: return .string(random.pick(texts).repeated(random.int(1..<400)))
        case 7: return .object([random.pick(names): .string(random.pick(texts))])
        case 8: return .array((0..<random.int(0..<5)).map { _ in json(&random, depth: depth + 1) })
        default:
            var object = JSONObject()
            for _ in 0..<random.int(0..<5) { object[random.pick(names)] = json(&random, depth: depth + 1) }
            return .object(object)
        }
    }

    private static let texts = [
        "", "a", "\u{0}", "é", "🜁", "\u{202E}", "a/b", "../..", "%", "'", "\"", "\\", "$1", ";", "--", "users/x",
        "2026-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999Z", "0000-00-00T00:00:00Z", "-1:00", "AAAA", "====", "{}", "[", "*", "(", "eq.1",
        "\u{FEFF}",
    ]
    private static let names = [
        "", "a", "id", "limit", "offset", "name", "fields", "value", "integerValue", "doubleValue", "timestampValue",
        "mapValue",
        "arrayValue", "config", "broadcast", "presence", "since", "count", "__name__", "\u{0}",
    ]
}

extension String {
    func repeated(_ count: Int) -> String { String(repeating: self, count: count) }

    fileprivate func replacingFirst(_ text: String, by replacement: String) -> String {
        guard let place = firstRange(of: text) else { return self + replacement }
        return self[..<place.lowerBound] + replacement + self[place.upperBound...]
    }
}
