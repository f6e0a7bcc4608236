//! The ten bugs of the order book, in the order in which its suite reports them.

/// A bug, as the scripted model finds and mends it.
pub(super) struct Bug {
    /// Source and tests are `src/<module>.mjs` and `tests/<module>.test.mjs`.
    pub(super) module: &'static str,
    /// What the model says when it turns to the failing test.
    pub(super) symptom: &'static str,
    /// What it searches for before it changes anything, where it does.
    pub(super) search: Option<&'static str>,
    /// What it says when it has found the mistake.
    pub(super) cause: &'static str,
    /// What was wrong, in the words of a report.
    pub(super) matter: &'static str,
    /// The lines with the mistake.
    pub(super) wrong: &'static str,
    /// The lines without it.
    pub(super) right: &'static str,
}

pub(super) const BUGS: [Bug; 10] = [
    Bug {
        module: "cart",
        symptom: "The cart makes two lines of one article when its options come in another order.",
        search: Some("sameArticle"),
        cause: "`sameArticle` compares the options as JSON, so their order counts. Rule 5 says it means nothing.",
        matter: "the comparison of options",
        wrong: "  const options = (line) => JSON.stringify(line.options ?? {});\n",
        right: "  const options = (line) => JSON.stringify(Object.entries(line.options ?? {}).sort());\n",
    },
    Bug {
        module: "csv",
        symptom: "The reader refuses a doubled quote inside of a quoted field.",
        search: None,
        cause: "Inside of quotes the first quote always closes the field; a second one right behind it is never looked at.",
        matter: "the doubled quotes",
        wrong: "      if (char === '\"') {\n        quoted = false;\n",
        right: "      if (char === '\"' && source[at + 1] === '\"') {\n        field += char;\n        at += 1;\n      } else if (char === '\"') {\n        quoted = false;\n",
    },
    Bug {
        module: "dates",
        symptom: "One month after the 31st of January comes the 3rd of March. Two tests fail for it.",
        search: Some("addMonths"),
        cause: "`addMonths` lets the calendar overflow into the next month instead of taking the last day, as rule 2 has it.",
        matter: "the overflow of short months",
        wrong: "  const moment = new Date(Date.UTC(targetYear, targetMonth - 1, day));\n  const result = date(moment.getUTCFullYear(), moment.getUTCMonth() + 1, moment.getUTCDate());\n",
        right: "  const result = date(targetYear, targetMonth, Math.min(day, daysInMonth(targetYear, targetMonth)));\n",
    },
    Bug {
        module: "discounts",
        symptom: "Ten pieces get no discount, eleven do.",
        search: None,
        cause: "The tier is compared with `>`, but its first piece belongs to it: rule 4 says that the tenth piece is enough.",
        matter: "the first piece of a tier",
        wrong: "    if (quantity > tier.from) share = tier.share;\n",
        right: "    if (quantity >= tier.from) share = tier.share;\n",
    },
    Bug {
        module: "inventory",
        symptom: "An order with one article in two lines is promised more than there is.",
        search: Some("\\.reserve("),
        cause: "`reserve` checks each line on its own. The quantities of an article have to be added up first.",
        matter: "the sum over an order's lines",
        wrong: "    for (const { sku, quantity } of lines) {\n      const article = this.#article(sku);\n      const available",
        right: "    const wanted = new Map();\n    for (const { sku, quantity } of lines) wanted.set(sku, (wanted.get(sku) ?? 0) + quantity);\n    for (const [sku, quantity] of wanted) {\n      const article = this.#article(sku);\n      const available",
    },
    Bug {
        module: "ledger",
        symptom: "The balance of a day lacks what was posted on that day.",
        search: None,
        cause: "`balance` skips postings with `>=`. Rule 7 says that the day itself counts.",
        matter: "the last day of a balance",
        wrong: "      if (until && posting.date >= until) continue;\n",
        right: "      if (until && posting.date > until) continue;\n",
    },
    Bug {
        module: "money",
        symptom: "Halves are always rounded up. The tax report is a cent off for the same reason, I think.",
        search: Some("roundHalfEven"),
        cause: "The branch for halves adds one without looking whether the lower neighbour is even.",
        matter: "the rounding of halves",
        wrong: "    const rounded = floor + 1;\n",
        right: "    const rounded = floor % 2 === 0 ? floor : floor + 1;\n",
    },
    Bug {
        module: "query",
        symptom: "Orders that are equal in the sorted field show up on two pages or on none.",
        search: None,
        cause: "A cursor holds the sorted fields alone, so it fits several orders. With the id as the last key it fits one, as rule 9 wants.",
        matter: "the cursors of equal orders",
        wrong: "  const keys = parseSort(sort);\n",
        right: "  const keys = [...parseSort(sort), { name: \"id\", descending: false }];\n",
    },
    Bug {
        module: "scheduler",
        symptom: "The first pause after a failure is two seconds instead of one.",
        search: Some("pauseAfter"),
        cause: "The exponent counts failures from 1, so the first pause is doubled already.",
        matter: "the first pause",
        wrong: "FIRST_PAUSE * 2 ** failed);\n",
        right: "FIRST_PAUSE * 2 ** (failed - 1));\n",
    },
    Bug {
        module: "tax",
        symptom: "A business in Germany is treated as reverse charge.",
        search: None,
        cause: "The number is looked at before the country. At home it makes no difference, by rule 3.",
        matter: "the treatment of businesses at home",
        wrong: "  if (inUnion(customer.country) && business) result = \"reverse-charge\";\n  else if (customer.country === HOME) result = \"domestic\";\n",
        right: "  if (customer.country === HOME) result = \"domestic\";\n  else if (inUnion(customer.country) && business) result = \"reverse-charge\";\n",
    },
];
