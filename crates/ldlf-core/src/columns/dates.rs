//! Dates as texts and as days.

use serde::{Deserialize, Serialize};

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// What comes first in a date such as `3/4/2021`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// 3 April.
    DayFirst,
    /// 4 March.
    MonthFirst,
}

/// A date in a text, in seconds since the beginning of 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateText {
    /// Year, month and day are clear.
    Clear(i64),
    /// A date by what comes first in it, where it is one.
    Ordered { day_first: Option<i64>, month_first: Option<i64> },
}

impl DateText {
    /// Whether it is another date with the day first than with the month first.
    pub fn is_unclear(self) -> bool {
        matches!(self, DateText::Ordered { day_first: Some(day), month_first: Some(month) } if day != month)
    }

    /// The date, if it is one in this order.
    pub fn in_order(self, order: Option<DateOrder>) -> Option<i64> {
        match (self, order) {
            (DateText::Clear(seconds), _) => Some(seconds),
            (DateText::Ordered { day_first, .. }, Some(DateOrder::DayFirst)) => day_first,
            (DateText::Ordered { month_first, .. }, _) => month_first,
        }
    }
}

/// Reads `2021-03-04`, `2021/3/4`, `4.3.2021` (the day first), `3/4/2021`, `3-4-2021`, with a time of day and an offset or without.
pub(super) fn parse_date(text: &str) -> Option<DateText> {
    let text = text.trim();
    if !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let (date, time) = match text.find(['T', ' ']) {
        Some(at) => (&text[..at], time_of_day(text[at + 1..].trim())?),
        None => (text, 0),
    };
    let mark = date.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let parts: Vec<&str> = date.split(mark).collect();
    let [a, b, c] = parts[..] else { return None };
    let number =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<i64>().ok())?;
    let at = |year: &str, month: &str, day: &str| {
        let days = day_number(number(year)?, number(month)?, number(day)?)?;
        Some(days * DAY + time)
    };
    match (a.len(), b.len(), c.len()) {
        (4, 1..=2, 1..=2) => at(a, b, c).map(DateText::Clear),
        (1..=2, 1..=2, 4) if mark == '.' => at(c, b, a).map(DateText::Clear),
        (1..=2, 1..=2, 4) => {
            let (day_first, month_first) = (at(c, b, a), at(c, a, b));
            (day_first.is_some() || month_first.is_some())
                .then_some(DateText::Ordered { day_first, month_first })
        }
        _ => None,
    }
}

/// Seconds since midnight of `12:34`, `12:34:56.7`, with `Z` or an offset such as `+02:00`, which is taken off.
fn time_of_day(text: &str) -> Option<i64> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text).trim_end();
    let (clock, offset) = match text.rfind(['+', '-']) {
        Some(at) => {
            let digits: String = text[at + 1..].chars().filter(|c| *c != ':').collect();
            let (hours, minutes) = digits.split_at_checked(2)?;
            let minutes = if minutes.is_empty() { 0 } else { minutes.parse::<i64>().ok()? };
            let seconds = hours.parse::<i64>().ok()? * 3600 + minutes * 60;
            (text[..at].trim_end(), if text[at..].starts_with('-') { -seconds } else { seconds })
        }
        None => (text, 0),
    };
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let mut parts =
        clock.split(':').map(|part| part.parse::<i64>().ok().filter(|value| (0..60).contains(value)));
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    (hour < 24 && parts.next().is_none()).then_some(hour * 3600 + minute * 60 + second - offset)
}

/// Days since the beginning of 1970 of a day in the Gregorian calendar, if there is such a day.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // The year begins in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year and month of a day since the beginning of 1970.
fn year_and_month(days: i64) -> (i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month)
}

/// Year, month from 1, weekday from 1 (Monday), days since the day `origin`, and the hour of the day with its fraction.
pub(super) fn parts_of(seconds: i64, origin: i64) -> [f64; 5] {
    let days = seconds.div_euclid(DAY);
    let (year, month) = year_and_month(days);
    let weekday = (days + 3).rem_euclid(7) + 1;
    let hour = seconds.rem_euclid(DAY) as f64 / 3600.0;
    [year as f64, month as f64, weekday as f64, (days - origin) as f64, hour]
}

/// A date as a text: `2021-03-04`, with the time of day where it is not midnight.
///
/// ```
/// use ldlf_core::columns::date_text;
/// assert_eq!(date_text(18_690 * 86_400), "2021-03-04");
/// assert_eq!(date_text(18_690 * 86_400 + 3_600), "2021-03-04 01:00:00");
/// ```
pub fn date_text(seconds: i64) -> String {
    let (days, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month) = year_and_month(days);
    let day = day_number(year, month, 1).map_or(0, |first| days - first + 1);
    let date = format!("{year:04}-{month:02}-{day:02}");
    match time {
        0 => date,
        _ => format!("{date} {:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_their_usual_forms() {
        // 2021-03-04 was a Thursday, 18690 days after 1970 began.
        let clear = Some(DateText::Clear(18_690 * DAY));
        for text in
            ["2021-03-04", "2021/3/4", "4.3.2021", "04.03.2021", "2021-03-04T00:00:00Z", "2021-03-04 00:00"]
        {
            assert_eq!(parse_date(text), clear, "{text}");
        }
        assert_eq!(
            parse_date("2021-03-04T12:30:00+02:00"),
            Some(DateText::Clear(18_690 * DAY + 10 * 3600 + 1800))
        );
        assert_eq!(parts_of(18_690 * DAY + 1800, 18_600), [2021.0, 3.0, 4.0, 90.0, 0.5]);
        for text in [
            "2021",
            "2021-13-01",
            "2021-02-29",
            "31/31/2021",
            "1.5.3",
            "tomorrow",
            "2021-03-04x",
            "2021-03-04 noon",
            "",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_with_slashes_may_have_the_day_or_the_month_first() {
        let both = parse_date("3/4/2021").unwrap();
        assert_eq!(both.in_order(Some(DateOrder::MonthFirst)), Some(18_690 * DAY));
        assert_eq!(both.in_order(Some(DateOrder::DayFirst)), Some((18_690 + 30) * DAY));
        assert!(both.is_unclear());
        assert!(
            !["31/12/2021", "4/4/2021", "2021-03-04"]
                .iter()
                .any(|text| parse_date(text).unwrap().is_unclear())
        );
        assert_eq!(parse_date("31/12/2021").unwrap().in_order(Some(DateOrder::MonthFirst)), None);
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        let mut day = day_number(1890, 1, 1).unwrap();
        for year in 1890..2110 {
            for month in 1..=12 {
                for date in 1..=31 {
                    let Some(number) = day_number(year, month, date) else { continue };
                    assert_eq!(number, day);
                    assert_eq!(year_and_month(number), (year, month));
                    day += 1;
                }
            }
        }
    }
}
