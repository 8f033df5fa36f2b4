import Testing

@testable import SwitchyardPage

@Suite struct SQLConditionTests {
    @Test(arguments: [
        ("((a = 1) AND (b = 2))", SQLCondition.Form.all(["(a = 1)", "(b = 2)"])),
        ("(a = 1) OR (b = 'x AND y')", .any(["(a = 1)", "(b = 'x AND y')"])),
        ("(a = 1 AND b = 2) OR c", .any(["(a = 1 AND b = 2)", "c"])),
        ("(auth.uid() = owner)", .single), ("(n BETWEEN 1 AND 5)", .single),
        ("(n BETWEEN 1 AND 5) AND b", .all(["(n BETWEEN 1 AND 5)", "b"])), ("f('(', ')')", .single),
    ])
    func `A condition is taken apart at its outermost words`(text: String, form: SQLCondition.Form) {
        #expect(SQLCondition(text).form == form)
    }

    @Test func `Both sides of a comparison are known`() {
        let sides = SQLCondition("((auth.jwt() ->> 'sub'::text) = owner)").sides
        #expect(sides?.left == "(auth.jwt() ->> 'sub'::text)")
        #expect(sides?.right == "owner")
        #expect(SQLCondition("is_open").sides == nil)
        #expect(SQLCondition("(a = ' = ')").sides?.right == "' = '")
    }
}
