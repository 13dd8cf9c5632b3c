//! # Lines on a page
//!
//! One SVG a plot, drawn to stand inside the page: no background of its own, and what is drawn in black takes the colour of
//! the text around it, so it can be read in a light page and in a dark one.
//!
//! Invariants:
//! * a plot without points is no plot: the caller gets none.

use plotters::prelude::*;

use crate::lab::outcome::Plot;

const SIZE: (u32, u32) = (720, 380);
/// Told apart by lightness, too, for who cannot tell them by hue; each readable on black and on white.
const COLOURS: [RGBColor; 6] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 130, 200),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(150, 120, 0),
    RGBColor(120, 120, 135),
];

/// The plot as an `<svg>` element.
pub(super) fn svg(plot: &Plot) -> Option<String> {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let (left, right) = points().fold((f64::INFINITY, 0.0_f64), |(low, high), (x, _)| (low.min(*x), high.max(*x)));
    let top = points().map(|(_, y)| *y).fold(0.0, f64::max);
    if !left.is_finite() || right <= left {
        return None;
    }
    let mut out = String::new();
    draw(&mut out, plot, (left, right), top.max(1e-9) * 1.08).ok()?;
    Some(out.replace("#000000", "currentColor"))
}

fn draw(out: &mut String, plot: &Plot, (left, right): (f64, f64), top: f64) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(out, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area);
    chart.margin(12).margin_right(24).x_label_area_size(42).y_label_area_size(62);
    // The axis is of another type for each, so the rest is written once as a macro.
    macro_rules! lines {
        ($axis:expr) => {{
            let mut chart = chart.build_cartesian_2d($axis, 0.0..top)?;
            let mut mesh = chart.configure_mesh();
            mesh.disable_x_mesh().light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.15));
            mesh.x_label_formatter(&|x| label(*x)).y_label_formatter(&|y| label(*y));
            mesh.x_desc(plot.x).y_desc(plot.y).label_style(("sans-serif", 14)).draw()?;
            for (series, colour) in plot.series.iter().zip(COLOURS) {
                chart.draw_series(LineSeries::new(series.points.clone(), colour.stroke_width(2)))?;
                if series.points.len() < 30 {
                    let dots = series.points.iter().map(|point| Circle::new(*point, 3, colour.filled()));
                    chart.draw_series(dots)?;
                }
            }
        }};
    }
    if plot.log_x {
        lines!((left..right).log_scale());
    } else {
        lines!(left..right);
    }
    area.present()?;
    Ok(())
}

/// A number at an axis, without digits that say nothing.
fn label(number: f64) -> String {
    ((number * 100.0).round() / 100.0).to_string()
}

/// The colour of the line at a place, for the key beside the plot.
pub(super) fn colour(at: usize) -> String {
    let RGBColor(red, green, blue) = COLOURS[at % COLOURS.len()];
    format!("rgb({red},{green},{blue})")
}
